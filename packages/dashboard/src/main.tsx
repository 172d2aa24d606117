import "./look/tokens.css";
import "./look/base.css";
import "./look/shell.css";
import "./look/parts.css";
import "./look/json.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { readTheme, showTheme } from "./shell/chosen-theme.ts";

showTheme(readTheme());

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
