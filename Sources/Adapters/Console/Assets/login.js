// A link's secret is in its fragment, which no server and no log sees. The script sends it as a form and clears the address bar.
const form = document.getElementById("login");
const secret = location.hash.slice(1);
// Browsers also keep the fragment of a map's position in a redirect.
if (form && /^[\w-]{64}$/.test(secret)) {
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = secret;
  form.requestSubmit();
}
