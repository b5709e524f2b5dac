import type { ToolsView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';

/** Something to begin with: what to ask a model, or the tool to run by hand with these arguments. */
export interface Try {
  readonly server: string;
  readonly serverTitle: string;
  readonly tool: string;
  readonly toolTitle: string;
  readonly title: string;
  readonly text: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const MOST = 3;

/** Tools whose name says that they only look. A suggestion must not change anything. */
const looks = /^(?:echo|get|list|search|find|read|show|describe|lookup|query|fetch|who|current)(?![a-z])/i;
const dangerous = /env|secret|token|password|credential|delete|remove/i;

/** Up to three things to try, made from the tools that are there. */
export function suggestTries(servers: ToolsView['servers']): readonly Try[] {
  const words = strings.chat.start;
  const tries: Try[] = [];
  const usable = Object.entries(servers).filter(([, { state }]) => state === 'connected');
  for (const [server, { title: serverTitle, tools }] of usable) {
    const find = (name: string) => tools.find((tool) => tool.name === name);
    // The reference server of the MCP project, which runs where nothing else is configured.
    if (!find('echo') || !find('get-sum')) continue;
    const sample = [
      { tool: 'echo', args: { message: 'hello' }, ...words.tries.echo },
      { tool: 'get-sum', args: { a: 2, b: 3 }, ...words.tries.sum },
      { tool: 'get-structured-content', args: { location: 'Chicago' }, ...words.tries.weather },
    ];
    tries.push(
      ...sample.flatMap((one) => {
        const tool = find(one.tool);
        return tool ? [{ server, serverTitle, toolTitle: tool.title || tool.name, ...one }] : [];
      }),
    );
  }
  // One of each other server first: they show what is there.
  for (const [server, { title: serverTitle, tools }] of usable) {
    if (tries.some((one) => one.server === server)) continue;
    const tool = tools.find(({ name }) => looks.test(name) && !dangerous.test(name));
    if (tool === undefined) continue;
    const toolTitle = tool.title || tool.name;
    tries.unshift({
      ...{ server, serverTitle, tool: tool.name, toolTitle },
      args: {},
      title: words.tryToolTitle(toolTitle),
      text: words.tryTool(toolTitle, serverTitle),
    });
  }
  return tries.slice(0, MOST);
}
