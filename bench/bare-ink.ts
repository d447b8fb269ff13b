/** The baseline of the screen: the least Ink app that shows what is typed. */

import { Box, render, Text, useInput } from "ink";
import { createElement as h, useState } from "react";

function App() {
  const [text, setText] = useState("");
  useInput((typed) => setText((before) => before + typed));
  return h(
    Box,
    { flexDirection: "column" },
    h(Text, null, `› ${text}`),
    h(Text, { dimColor: true }, "status"),
  );
}

render(h(App), { incrementalRendering: true, maxFps: 1000 });
