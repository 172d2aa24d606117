/**
 * Texts that become something else where they are not shown as text. Any of them that runs says so in the console, which
 * fails a test with a browser.
 */
const run = `console.error("hostile text ran")`;

export const hostileTexts: readonly string[] = [
  `<script>${run}</script>`,
  `<img src=x onerror='${run}'>`,
  `"><svg onload='${run}'>`,
  `' onmouseover='${run}' autofocus onfocus='${run}' x='`,
  `</script></style></textarea></title><script>${run}</script>`,
  `javascript:${run}`,
  `JaVaScRiPt:${run}//`,
  `data:text/html,<script>${run}</script>`,
  `[link](javascript:${run})`,
  `{{constructor.constructor('${run}')()}}`,
  `\${${run}}`,
  `<iframe srcdoc="<script>${run.replaceAll('"', "'")}</script>"></iframe>`,
  `<base href="http://127.0.0.1:9/"><meta http-equiv=refresh content="0;url=http://127.0.0.1:9/">`,
  `<link rel=stylesheet href=http://127.0.0.1:9/x.css><style>*{display:none!important}</style>`,
  `<a href="http://127.0.0.1:9/" target=_top>press here</a>`,
  "&lt;b&gt; &amp;amp; &#x3c;script&#x3e;",
  "__proto__",
  "constructor",
  "toString",
  "../../../../etc/passwd?a=b#c%00%2e%2e",
  "right to left \u202e evitceffe si ti \u202d and back \u200b\u200d\ufeff",
  "Z\u0351\u036b\u0343a\u0325\u031d\u034dl\u0489g\u0321o\u0300 👩‍👩‍👧‍👦 漢字 שלום",
  "\u001b[31mred\u001b[0m\u0007 and\r\na second line\ta tab",
  "aVeryLongWordWithoutAnyPlaceToBreakIt".repeat(12),
];
