// A link's secret is in its fragment, which no server and no log sees. The script sends it as a form and clears the address bar.
const form = document.getElementById("login");
const next = form?.elements.next;
// A link opens without the page that the person wanted. The browser keeps it for ten minutes, as long as a link is valid.
if (next) localStorage.setItem("next", `${Date.now()} ${next.value}`);
const wanted = () => {
  const [time, page] = (localStorage.getItem("next") ?? "").split(" ");
  localStorage.removeItem("next");
  return Date.now() - time < 600_000 ? page : undefined;
};
const signIn = () => {
  const secret = location.hash.slice(1);
  // Browsers also keep the fragment of a map's position in a redirect.
  if (!form || !/^[\w-]{64}$/.test(secret)) return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = secret;
  const page = wanted();
  if (!next && page) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "next", value: page }));
  }
  form.requestSubmit();
};
signIn();
// A link that is pasted into the page's own tab changes the fragment alone.
addEventListener("hashchange", signIn);
