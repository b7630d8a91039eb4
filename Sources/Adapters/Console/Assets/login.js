// A link's secret is in its fragment, which no server and no log sees. The script sends it as a form and clears the address bar.
const form = document.getElementById("login");
const signIn = () => {
  const secret = location.hash.slice(1);
  // Browsers also keep the fragment of a map's position in a redirect.
  if (!form || !/^[\w-]{64}$/.test(secret)) return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = secret;
  form.requestSubmit();
};
signIn();
// A link that is pasted into the page's own tab changes the fragment alone.
addEventListener("hashchange", signIn);
