import { ServerToolsView, type ErrorCode } from '@behalf/contracts';
import { didYouMean } from '@behalf/contracts';
import { CliError, usageError } from '../cliError.ts';
import type { Command, Context } from '../command.ts';
import { endingOf, GatewayProblem } from '../gateway/explainProblem.ts';
import { definition } from '../gateway/paths.ts';
import { inputOptions, jsonArguments } from '../input/givenInputs.ts';
import { readArguments } from '../input/readArguments.ts';
import { clean } from '../output/clean.ts';
import { readResult, resultText, type ToolResult } from '../output/toolResult.ts';
import { serverArgument } from './serverArgument.ts';

const PATIENCE_MS = 310_000;

export const mcpCall: Command = {
  path: ['mcp', 'call'],
  summary: 'calls a tool',
  arguments: [serverArgument, { name: 'TOOL', about: 'The name of the tool, as the server calls it.' }],
  options: inputOptions,
  notes: [
    'Inputs that are missing or do not fit are named together, and nothing is sent. Exit code 1: the tool ran and failed, or asks first.',
    'What is printed are the words of the server; signs that a terminal would act upon are left out.',
  ],
  async run(context) {
    const { given, gateway, progress } = context;
    const [server, name] = [given.argument('SERVER'), given.argument('TOOL')];
    progress(`Asking ${server} for its tools ...`);
    const listed = await gateway().ask(definition(server, '/tools'), ServerToolsView);
    const tool = listed.tools.find((one) => one.name === name || one.publicName === name);
    if (!tool) throw notThere(listed, server, name);
    const read = readArguments(tool.inputSchema, given.texts('arg'), await jsonArguments(context));
    if (!read.ok)
      throw usageError(`The inputs do not fit the tool "${tool.name}". Nothing was sent.`, read.problems);
    progress(`Calling ${tool.name} ...`);
    const result = await call(context, server, tool.name, read.args);
    const { isError, signIn } = result;
    const ending = signIn !== undefined ? 'signIn' : isError ? 'failed' : 'ok';
    const next = ending === 'signIn' ? `Sign in with: behalf mcp login ${server}\n` : '';
    return { ending, text: clean(`${resultText(result)}${next}`), json: result.whole };
  },
};

async function call(
  { gateway }: Context,
  server: string,
  tool: string,
  args: Record<string, unknown>,
): Promise<ToolResult> {
  try {
    const path = definition(server, `/tools/${encodeURIComponent(tool)}/call`);
    return await gateway().ask(path, readResult, {
      ...{ method: 'POST', body: { arguments: args }, patienceMs: PATIENCE_MS },
    });
  } catch (error) {
    if (error instanceof GatewayProblem && error.problem.code === 'MCP_APPROVAL_REQUIRED') {
      throw new CliError('failed', 'This tool asks first, and a key cannot answer for you.', {
        code: error.problem.code,
        action: 'Approve the call in the interface (it is waiting there), then repeat it unchanged.',
      });
    }
    throw error;
  }
}

/** Why there is no such tool: it may be the server that is missing something. */
function notThere({ state, code, tools }: ServerToolsView, server: string, name: string): CliError {
  if (state === 'connected' || code === undefined) {
    const near = didYouMean(
      name,
      tools.map((tool) => tool.name),
    );
    return new CliError('absent', `${server} has no tool "${name}" for you.`, {
      code: 'MCP_TOOL_NOT_FOUND',
      ...(near !== undefined && { problems: [near] }),
    });
  }
  const ending = state === 'needs_authorization' ? 'signIn' : endingOf(code as ErrorCode);
  return new CliError(ending, `The tools of ${server} are not known: ${state.replace('_', ' ')}.`, {
    code,
    action:
      state === 'needs_authorization'
        ? `Sign in with: behalf mcp login ${server}`
        : `See why with: behalf doctor ${server}`,
  });
}
