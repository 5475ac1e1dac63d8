// Light or dark: as the system says, until somebody chooses. It runs before the page is drawn.
(() => {
  const key = "mortise-console-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const isDark = () => (stored() ?? (system.matches ? "dark" : "light")) === "dark";

  const show = () => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    const button = document.getElementById("theme");
    if (button) button.setAttribute("aria-pressed", String(isDark()));
  };

  show();
  system.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", () => {
      try {
        localStorage.setItem(key, isDark() ? "light" : "dark");
      } catch {
        // Storage may be forbidden: then the choice lasts as long as the page.
        document.documentElement.dataset.theme = isDark() ? "light" : "dark";
        return;
      }
      show();
    });
  });
})();
