import type { ToolsView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';

/** Suggestion: a prompt for the model, or a tool with arguments. */
interface Example {
  readonly server: string;
  readonly serverTitle: string;
  readonly tool: string;
  readonly toolTitle: string;
  readonly title: string;
  readonly text: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const MAX_EXAMPLES = 3;

/** Tool names that indicate read access. A suggestion must not change data. */
const readOnlyPattern =
  /^(?:echo|get|list|search|find|read|show|describe|lookup|query|fetch|who|current)(?![a-z])/i;
const sensitivePattern = /env|secret|token|password|credential|delete|remove/i;

/** Returns up to three suggestions from the available tools. */
export function suggestExamples(servers: ToolsView['servers']): readonly Example[] {
  const words = strings.chat.start;
  const examples: Example[] = [];
  const connectedServers = Object.entries(servers).filter(([, { state }]) => state === 'connected');
  for (const [server, { title: serverTitle, tools }] of connectedServers) {
    const findTool = (name: string) => tools.find((tool) => tool.name === name);
    // Reference server of the MCP project, which runs if no other server is configured.
    if (!findTool('echo') || !findTool('get-sum')) continue;
    const sampleExamples = [
      { tool: 'echo', args: { message: 'hello' }, ...words.examples.echo },
      { tool: 'get-sum', args: { a: 2, b: 3 }, ...words.examples.sum },
      { tool: 'get-structured-content', args: { location: 'Chicago' }, ...words.examples.weather },
    ];
    examples.push(
      ...sampleExamples.flatMap((example) => {
        const tool = findTool(example.tool);
        return tool ? [{ server, serverTitle, toolTitle: tool.title || tool.name, ...example }] : [];
      }),
    );
  }
  // One suggestion per other server comes first.
  for (const [server, { title: serverTitle, tools }] of connectedServers) {
    if (examples.some((example) => example.server === server)) continue;
    const tool = tools.find(({ name }) => readOnlyPattern.test(name) && !sensitivePattern.test(name));
    if (tool === undefined) continue;
    const toolTitle = tool.title || tool.name;
    examples.unshift({
      ...{ server, serverTitle, tool: tool.name, toolTitle },
      args: {},
      title: words.useTool(toolTitle),
      text: words.useToolPrompt(toolTitle, serverTitle),
    });
  }
  return examples.slice(0, MAX_EXAMPLES);
}
