import { BlockCheckView, BlocksView, BlockView, type BlockSummary } from '@behalf/contracts';
import { usageError } from '../cliError.ts';
import type { ArgumentSpec, Command, Context, OptionSpec } from '../command.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { inputOptions, jsonArguments } from '../input/givenInputs.ts';
import { readArguments } from '../input/readArguments.ts';
import { clean } from '../output/clean.ts';
import { explainMissing, missingTexts } from '../output/missing.ts';
import { table } from '../output/table.ts';
import { readResult, resultText } from '../output/toolResult.ts';

const PATIENCE_MS = 310_000;
const blockArgument: ArgumentSpec = { name: 'BLOCK', about: 'The id of the block.' };
const credentialOption: OptionSpec = {
  name: 'credential',
  value: 'LABEL',
  about: 'Which of your credentials at the server. Default: your default or only one.',
};

const at = (id: string, rest = '') => `/api/mcp/blocks/${encodeURIComponent(id)}${rest}`;

export const blockList: Command = {
  path: ['block', 'list'],
  summary: 'your blocks and those shared with you',
  arguments: [],
  options: [],
  notes: [],
  async run({ gateway, style }) {
    const blocks = await allBlocks(gateway());
    const rows = blocks.map(({ id, title, server, tool }) => [id, title, server.name, tool, server.state]);
    const text =
      rows.length === 0
        ? 'There are no blocks for you.\n'
        : table(['ID', 'TITLE', 'SERVER', 'TOOL', 'ACCESS'], rows, style);
    return { ending: 'ok', text, json: { blocks } };
  },
};

export const blockCheck: Command = {
  path: ['block', 'check'],
  summary: 'whether a block would run for you now',
  arguments: [blockArgument],
  options: [...inputOptions, credentialOption],
  notes: [
    'Nothing runs. Exit code 0: it would run. 2: inputs are missing or do not fit. 5: only a credential is missing. 1: it would not run for another reason.',
  ],
  async run(context) {
    const id = context.given.argument('BLOCK');
    const inputs = await inputsOf(context, id);
    const credential = context.given.text('credential');
    const body = {
      ...{ ids: [id], inputs: { [id]: inputs } },
      credentials: credential === undefined ? {} : { [id]: credential },
    };
    const checked = await context
      .gateway()
      .ask('/api/mcp/blocks/check', BlockCheckView, { method: 'POST', body });
    const { missing } = checked;
    const { state = 'not_found', code, errors = [] } = checked.blocks[0] ?? {};
    const lines = [...missingTexts(missing), ...errors.map(({ path, message }) => `${path} ${message}`)];
    const head = code === undefined ? state : `${state} (${code})`;
    const isInput = missing.inputs.length > 0 || state === 'broken';
    const isSignIn = missing.credentials.length > 0;
    const ending = checked.runs ? 'ok' : isInput ? 'usage' : isSignIn ? 'signIn' : 'failed';
    return {
      ending: state === 'not_found' ? 'absent' : ending,
      text: clean([head, ...lines.map((line) => `  ${line}`)].map((line) => `${line}\n`).join('')),
      json: checked,
    };
  },
};

export const blockRun: Command = {
  path: ['block', 'run'],
  summary: 'runs a block as you',
  arguments: [blockArgument],
  options: [...inputOptions, credentialOption],
  notes: [
    'Inputs and credentials that are missing are named together, and nothing is sent: exit code 2, or 5 where only a credential is missing. Exit code 1: the tool ran and failed, or asks first.',
    'What is printed are the words of the server; signs that a terminal would act upon are left out.',
  ],
  async run(context) {
    const id = context.given.argument('BLOCK');
    const inputs = await inputsOf(context, id);
    const credential = context.given.text('credential');
    context.progress('Running ...');
    try {
      const result = await context.gateway().ask(at(id, '/run'), readResult, {
        method: 'POST',
        body: { inputs, ...(credential !== undefined && { credential }) },
        patienceMs: PATIENCE_MS,
      });
      const ending = result.signIn !== undefined ? 'signIn' : result.isError ? 'failed' : 'ok';
      return { ending, text: clean(resultText(result)), json: result.whole };
    } catch (error) {
      throw explainMissing(error);
    }
  },
};

async function allBlocks(gateway: Gateway): Promise<BlockSummary[]> {
  const blocks: BlockSummary[] = [];
  for (let after: string | null = ''; after !== null;) {
    const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
    const page: BlocksView = await gateway.ask(`/api/mcp/blocks${query}`, BlocksView);
    blocks.push(...page.blocks);
    after = page.next;
  }
  return blocks;
}

/** As the tool declares them. Which are missing is the gateway's to say: it knows what the block brings by itself. */
async function inputsOf(context: Context, id: string): Promise<Record<string, unknown>> {
  const { given, gateway } = context;
  const { inputSchema } = await gateway().ask(at(id), BlockView);
  const { required: _required, ...rest } = inputSchema;
  const read = readArguments(rest, given.texts('arg'), await jsonArguments(context));
  if (read.ok) return read.args;
  throw usageError('The inputs do not fit the block. Nothing was sent.', read.problems);
}
