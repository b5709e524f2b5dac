import {
  BlockCheckView,
  type BlockSummary,
  BlockView,
  BlocksView,
  type MissingParts,
} from '@behalf/contracts';
import { CliError, createUsageError } from '../cliError.ts';
import type { ArgumentSpec, Command, Context, OptionSpec } from '../command.ts';
import { type GatewayClient, GatewayProblem } from '../gateway/gatewayClient.ts';
import { parseArgumentPairs } from '../input/readArguments.ts';
import { inputOptions, readJsonArguments } from '../input/sharedInputs.ts';
import { formatTable, stripControls } from '../output/terminal.ts';
import { formatToolResult, toolResultSchema } from '../output/toolResult.ts';

const CALL_TIMEOUT_MS = 310_000;
const blockArgument: ArgumentSpec = { name: 'BLOCK', description: 'The id of the block.' };
const credentialOption: OptionSpec = {
  name: 'credential',
  value: 'LABEL',
  description: 'Label of your credential at the server. Default: your default credential, or the only one.',
};

const blockPath = (id: string, rest = '') => `/api/mcp/blocks/${encodeURIComponent(id)}${rest}`;

export const blockList: Command = {
  path: ['block', 'list'],
  summary: 'lists your blocks and those shared with you',
  arguments: [],
  options: [],
  notes: [],
  async run({ gateway, style }) {
    const blocks = await allBlocks(gateway());
    const rows = blocks.map(({ id, title, server, tool }) => [id, title, server.name, tool, server.state]);
    const text =
      rows.length === 0
        ? 'No blocks are available to you.\n'
        : formatTable(['ID', 'TITLE', 'SERVER', 'TOOL', 'ACCESS'], rows, style);
    return { exitStatus: 'ok', text, json: { blocks } };
  },
};

export const blockCheck: Command = {
  path: ['block', 'check'],
  summary: 'checks whether a block can run for you now',
  arguments: [blockArgument],
  options: [...inputOptions, credentialOption],
  notes: [
    'Nothing runs. Exit code 0: the block can run. 2: inputs are missing or not valid. 5: only a credential is missing. 1: it cannot run for another reason.',
  ],
  async run(context) {
    const id = context.input.argument('BLOCK');
    const inputs = await readInputs(context, id);
    const credential = context.input.text('credential');
    const body = {
      ...{ ids: [id], inputs: { [id]: inputs } },
      credentials: credential === undefined ? {} : { [id]: credential },
    };
    const report = await context
      .gateway()
      .request('/api/mcp/blocks/check', BlockCheckView, { method: 'POST', body });
    const { missing } = report;
    const { state = 'not_found', code, errors = [] } = report.blocks[0] ?? {};
    const lines = [
      ...formatMissingParts(missing),
      ...errors.map(({ path, message }) => `${path} ${message}`),
    ];
    const headline = code === undefined ? state : `${state} (${code})`;
    const isInputProblem = missing.inputs.length > 0 || state === 'broken';
    const isSignInMissing = missing.credentials.length > 0;
    const exitStatus = report.runs ? 'ok' : isInputProblem ? 'usage' : isSignInMissing ? 'signIn' : 'failed';
    return {
      exitStatus: state === 'not_found' ? 'absent' : exitStatus,
      text: stripControls(
        [headline, ...lines.map((line) => `  ${line}`)].map((line) => `${line}\n`).join(''),
      ),
      json: report,
    };
  },
};

export const blockRun: Command = {
  path: ['block', 'run'],
  summary: 'runs a block as you',
  arguments: [blockArgument],
  options: [...inputOptions, credentialOption],
  notes: [
    'Missing inputs and credentials are reported together, and nothing is sent: exit code 2, or 5 if only a credential is missing. Exit code 1: the tool ran and failed, or requires approval.',
    'Prints the text of the server without control characters.',
  ],
  async run(context) {
    const id = context.input.argument('BLOCK');
    const inputs = await readInputs(context, id);
    const credential = context.input.text('credential');
    context.progress('Running ...');
    try {
      const result = await context.gateway().request(blockPath(id, '/run'), toolResultSchema, {
        method: 'POST',
        body: { inputs, ...(credential !== undefined && { credential }) },
        timeoutMs: CALL_TIMEOUT_MS,
      });
      const exitStatus = result.signIn !== undefined ? 'signIn' : result.isError ? 'failed' : 'ok';
      return { exitStatus, text: stripControls(formatToolResult(result)), json: result.json };
    } catch (error) {
      throw toMissingError(error);
    }
  },
};

async function allBlocks(gateway: GatewayClient): Promise<BlockSummary[]> {
  const blocks: BlockSummary[] = [];
  for (let after: string | null = ''; after !== null;) {
    const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
    const page: BlocksView = await gateway.request(`/api/mcp/blocks${query}`, BlocksView);
    blocks.push(...page.blocks);
    after = page.next;
  }
  return blocks;
}

/** Parses inputs by the tool's schema. The gateway reports missing ones, because the block may provide them. */
async function readInputs(context: Context, id: string): Promise<Record<string, unknown>> {
  const { input, gateway } = context;
  const { inputSchema } = await gateway().request(blockPath(id), BlockView);
  const { required: _required, ...rest } = inputSchema;
  const parsed = parseArgumentPairs(rest, input.texts('arg'), await readJsonArguments(context));
  if (parsed.ok) return parsed.args;
  throw createUsageError('The inputs are not valid for the block. Nothing was sent.', parsed.problems);
}

/** Lists everything that is missing: inputs to provide, and servers to sign in to. */
function formatMissingParts({ inputs, credentials }: MissingParts): string[] {
  const needs = credentials.flatMap((group) => group.needs);
  return [
    ...inputs.map(({ step, name, description }) => {
      const inputName = step === undefined ? name : `${step}.${name}`;
      return `${inputName} is missing${description === undefined ? '' : `: ${description.split('\n')[0] ?? ''}`}`;
    }),
    ...needs.map((need) => {
      switch (need.kind) {
        case 'sign_in':
          return `a sign-in at ${need.server} is missing (${need.reason}): behalf mcp login ${need.server}, or ${need.connectUrl}`;
        case 'values':
          return `values at ${need.server} are missing: ${need.values.map(({ name }) => name).join(', ')}; enter them at ${need.connectUrl}`;
        case 'choose':
          return `there are several credentials at ${need.server}: select one of ${need.choices.map(({ label }) => label).join(', ')}`;
      }
    }),
  ];
}

/** Maps a missing part to an input error, or to a sign-in error if only a sign-in is missing. */
function toMissingError(error: unknown): unknown {
  if (!(error instanceof GatewayProblem)) return error;
  const { missing, code, detail } = error.problem;
  if (!missing) return error;
  const isOnlySignIn = missing.inputs.length === 0 && missing.credentials.length > 0;
  const problems = [...formatMissingParts(missing), ...(error.detail.problems ?? [])];
  return new CliError(isOnlySignIn ? 'signIn' : 'usage', detail, { code, problems });
}
