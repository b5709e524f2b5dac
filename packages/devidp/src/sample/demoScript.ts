import type {
  RecordedModelRequest,
  ModelScript,
  ScriptMessage,
  ScriptStep,
  ScriptTool,
} from './scriptedModel.ts';

type ScriptedCall = { readonly name: string; readonly args: object };

/** A demo model: it reacts to a few words by calling matching tools. */
export const demoScript: ModelScript = function* (request) {
  const results = readToolResults(request.messages);
  if (results.length > 0) {
    yield* splitWords(formatResults(results));
    return;
  }
  const prompt = [...request.messages].reverse().find(({ role }) => role === 'user')?.content ?? '';
  const calls = selectCalls(prompt, request.tools);
  if (calls.length === 0) yield* splitWords(formatHelp(request));
  else {
    yield* splitWords('One moment, calling the tools. ');
    yield { calls };
  }
};

function selectCalls(prompt: string, tools: readonly ScriptTool[]): ScriptedCall[] {
  const findTools = (pattern: RegExp) => tools.filter(({ function: { name } }) => pattern.test(name));
  if (/who\s+am\s+i/i.test(prompt)) {
    return findTools(/whoami/i).map(({ function: { name } }) => ({ name, args: {} }));
  }
  const [, echoText] = /\becho\s+(.+)/is.exec(prompt) ?? [];
  if (echoText !== undefined) {
    return findTools(/echo/i)
      .slice(0, 1)
      .map((tool) => ({ name: tool.function.name, args: { [findTextField(tool)]: echoText } }));
  }
  const [, a, b] = /\badd\s+(-?[\d.]+)\s+(?:and|to|\+)\s+(-?[\d.]+)/i.exec(prompt) ?? [];
  if (a !== undefined && b !== undefined) {
    return findTools(/get-sum|(^|_)add(_|$)/i)
      .slice(0, 1)
      .map(({ function: { name } }) => ({ name, args: { a: Number(a), b: Number(b) } }));
  }
  return [];
}

/** Tools use different names for the text argument. */
function findTextField({ function: { parameters } }: ScriptTool): string {
  const [field] = Object.keys(parameters['properties'] ?? {});
  return field ?? 'text';
}

interface ToolOutcome {
  readonly tool: string;
  readonly text: string;
}

/** The tool results since the last user message. */
function readToolResults(messages: readonly ScriptMessage[]): ToolOutcome[] {
  const currentMessages = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const names = new Map<string | undefined, string>();
  for (const { tool_calls = [] } of currentMessages)
    for (const call of tool_calls) names.set(call.id, call.function.name);
  return currentMessages
    .filter(({ role }) => role === 'tool')
    .map(({ tool_call_id, content }) => ({ tool: names.get(tool_call_id) ?? 'tool', text: content ?? '' }));
}

function formatResults(results: readonly ToolOutcome[]): string {
  const lines = results.map(
    ({ tool, text }) => `- **${tool}**: ${text.replaceAll(/\s+/g, ' ').slice(0, 500)}`,
  );
  return `Results of the tools:\n\n${lines.join('\n')}\n`;
}

function formatHelp({ tools }: RecordedModelRequest): string {
  const count = tools.length === 1 ? 'one tool' : `${tools.length} tools`;
  return `I am the demo model: a script that understands a few phrases. You have ${count}. Try one of these:

- **who am i**: asks every server for your identity
- **echo hello**: a server returns the text
- **add 2 and 3**: adds the numbers, if one of your servers has a tool for it
`;
}

/** Streams text word by word, like a model. */
function* splitWords(text: string): Generator<ScriptStep> {
  yield* text.match(/\s*\S+\s*/g) ?? [];
}
