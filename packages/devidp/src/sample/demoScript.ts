import type { ModelRequestSeen, ModelScript, SaidMessage, ScriptStep, ShownTool } from './scriptedModel.ts';

type Call = { readonly name: string; readonly args: object };

/** A model for trying things out: it knows a few words, and calls the tools that belong to them. */
export const demoScript: ModelScript = function* (request) {
  const results = resultsOf(request.messages);
  if (results.length > 0) {
    yield* inWords(reportOf(results));
    return;
  }
  const asked = [...request.messages].reverse().find(({ role }) => role === 'user')?.content ?? '';
  const calls = callsFor(asked, request.tools);
  if (calls.length === 0) yield* inWords(helpFor(request));
  else {
    yield* inWords('One moment, I ask. ');
    yield { calls };
  }
};

function callsFor(asked: string, tools: readonly ShownTool[]): Call[] {
  const named = (pattern: RegExp) => tools.filter(({ function: { name } }) => pattern.test(name));
  if (/who\s+am\s+i/i.test(asked)) {
    return named(/whoami/i).map(({ function: { name } }) => ({ name, args: {} }));
  }
  const [, echoed] = /\becho\s+(.+)/is.exec(asked) ?? [];
  if (echoed !== undefined) {
    return named(/echo/i)
      .slice(0, 1)
      .map((tool) => ({ name: tool.function.name, args: { [textField(tool)]: echoed } }));
  }
  const [, a, b] = /\badd\s+(-?[\d.]+)\s+(?:and|to|\+)\s+(-?[\d.]+)/i.exec(asked) ?? [];
  if (a !== undefined && b !== undefined) {
    return named(/get-sum|(^|_)add(_|$)/i)
      .slice(0, 1)
      .map(({ function: { name } }) => ({ name, args: { a: Number(a), b: Number(b) } }));
  }
  return [];
}

/** Servers differ in what they call it. */
function textField({ function: { parameters } }: ShownTool): string {
  const [field] = Object.keys(parameters['properties'] ?? {});
  return field ?? 'text';
}

interface Result {
  readonly tool: string;
  readonly text: string;
}

/** What came back since the user last said something. */
function resultsOf(messages: readonly SaidMessage[]): Result[] {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const names = new Map<string | undefined, string>();
  for (const { tool_calls = [] } of since)
    for (const call of tool_calls) names.set(call.id, call.function.name);
  return since
    .filter(({ role }) => role === 'tool')
    .map(({ tool_call_id, content }) => ({ tool: names.get(tool_call_id) ?? 'tool', text: content ?? '' }));
}

function reportOf(results: readonly Result[]): string {
  const lines = results.map(
    ({ tool, text }) => `- **${tool}**: ${text.replaceAll(/\s+/g, ' ').slice(0, 500)}`,
  );
  return `Here is what came back:\n\n${lines.join('\n')}\n`;
}

function helpFor({ tools }: ModelRequestSeen): string {
  const count = tools.length === 1 ? 'one tool' : `${tools.length} tools`;
  return `I am the demo's model: a script that knows a few words. I see ${count} of yours. Try one of these:

- **who am i**: asks every server who you are there
- **echo hello**: lets a server say something back
- **add 2 and 3**: if one of your servers can add
`;
}

/** Piece by piece, as a model speaks. */
function* inWords(text: string): Generator<ScriptStep> {
  yield* text.match(/\s*\S+\s*/g) ?? [];
}
