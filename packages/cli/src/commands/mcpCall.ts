import { ServerToolsView, type ErrorCode } from '@behalf/contracts';
import { didYouMean } from '@behalf/contracts';
import { CliError, createUsageError } from '../cliError.ts';
import type { Command, Context } from '../command.ts';
import { GatewayProblem, definitionPath, getExitStatus } from '../gateway/gatewayClient.ts';
import { inputOptions, readJsonArguments, serverArgument } from '../input/sharedInputs.ts';
import { parseArgumentPairs } from '../input/readArguments.ts';
import { stripControls } from '../output/terminal.ts';
import { toolResultSchema, formatToolResult, type ToolCallResult } from '../output/toolResult.ts';

const CALL_TIMEOUT_MS = 310_000;

export const mcpCall: Command = {
  path: ['mcp', 'call'],
  summary: 'calls a tool',
  arguments: [serverArgument, { name: 'TOOL', description: 'The name of the tool at the server.' }],
  options: inputOptions,
  notes: [
    'Missing or invalid inputs are reported together, and nothing is sent. Exit code 1: the tool ran and failed, or requires approval.',
    'Prints the text of the server without control characters.',
  ],
  async run(context) {
    const { input, gateway, progress } = context;
    const [server, name] = [input.argument('SERVER'), input.argument('TOOL')];
    progress(`Listing the tools of ${server} ...`);
    const toolsView = await gateway().request(definitionPath(server, '/tools'), ServerToolsView);
    const tool = toolsView.tools.find(
      (candidate) => candidate.name === name || candidate.publicName === name,
    );
    if (!tool) throw createToolMissingError(toolsView, server, name);
    const parsed = parseArgumentPairs(tool.inputSchema, input.texts('arg'), await readJsonArguments(context));
    if (!parsed.ok)
      throw createUsageError(
        `The inputs are not valid for the tool "${tool.name}". Nothing was sent.`,
        parsed.problems,
      );
    progress(`Calling ${tool.name} ...`);
    const result = await callTool(context, server, tool.name, parsed.args);
    const { isError, signIn } = result;
    const ending = signIn !== undefined ? 'signIn' : isError ? 'failed' : 'ok';
    const next = ending === 'signIn' ? `Sign in with: behalf mcp login ${server}\n` : '';
    return {
      exitStatus: ending,
      text: stripControls(`${formatToolResult(result)}${next}`),
      json: result.json,
    };
  },
};

async function callTool(
  { gateway }: Context,
  server: string,
  tool: string,
  args: Record<string, unknown>,
): Promise<ToolCallResult> {
  try {
    const path = definitionPath(server, `/tools/${encodeURIComponent(tool)}/call`);
    return await gateway().request(path, toolResultSchema, {
      ...{ method: 'POST', body: { arguments: args }, timeoutMs: CALL_TIMEOUT_MS },
    });
  } catch (error) {
    if (error instanceof GatewayProblem && error.problem.code === 'MCP_APPROVAL_REQUIRED') {
      throw new CliError('failed', 'This tool requires approval, which a key cannot give.', {
        code: error.problem.code,
        action: 'Approve the pending call in the web interface, then repeat it unchanged.',
      });
    }
    throw error;
  }
}

/** Explains why the tool does not exist: the server may need a sign-in or configuration. */
function createToolMissingError(
  { state, code, tools }: ServerToolsView,
  server: string,
  name: string,
): CliError {
  if (state === 'connected' || code === undefined) {
    const suggestion = didYouMean(
      name,
      tools.map((tool) => tool.name),
    );
    return new CliError('absent', `${server} has no tool "${name}" for you.`, {
      code: 'MCP_TOOL_NOT_FOUND',
      ...(suggestion !== undefined && { problems: [suggestion] }),
    });
  }
  const ending = state === 'needs_authorization' ? 'signIn' : getExitStatus(code as ErrorCode);
  return new CliError(ending, `The tools of ${server} are not available: ${state.replace('_', ' ')}.`, {
    code,
    action:
      state === 'needs_authorization'
        ? `Sign in with: behalf mcp login ${server}`
        : `See why with: behalf doctor ${server}`,
  });
}
