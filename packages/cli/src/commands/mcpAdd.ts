import { NamedServerView } from '@behalf/contracts';
import { CliError, usageError } from '../cliError.ts';
import type { Command, Context, Given } from '../command.ts';
import { GatewayProblem } from '../gateway/explainProblem.ts';
import type { Shape } from '../gateway/gateway.ts';
import { clean } from '../output/clean.ts';

const types = ['streamable-http', 'sse', 'websocket'];

export const mcpAdd: Command = {
  path: ['mcp', 'add'],
  summary: 'defines a server of your own',
  arguments: [
    { name: 'TITLE', about: 'What it is called. Its name is made of it: "My tools" becomes my-tools.' },
  ],
  options: [
    { name: 'server-url', value: 'URL', about: 'Where the server is.' },
    { name: 'type', value: 'TYPE', about: `${types.join(', ')}. Default: streamable-http.` },
    { name: 'description', value: 'TEXT', about: 'What it is for.' },
    { name: 'oauth', about: 'Its users sign in there.' },
    {
      name: 'client-id',
      value: 'ID',
      about: 'The OAuth client, where none can be registered. Implies --oauth.',
    },
    { name: 'scope', value: 'SCOPES', about: 'What a sign-in asks for. Implies --oauth.' },
    { name: 'key-stdin', about: 'A key of the server, read from standard input and sent as a bearer token.' },
    { name: 'user-key', about: 'Every user enters a key of their own.' },
    {
      name: 'config',
      value: 'FILE',
      about: 'A JSON file with the definition; options are laid over it. "-": standard input.',
    },
    { name: 'check', about: 'Only says whether it could be added. Nothing is stored.' },
  ],
  notes: [
    'The key needs the scope servers. The server is looked at before anything is stored; one whose users have to sign in or',
    'enter a value first is stored without a look. One that does not answer is not stored at all: there are no servers that are',
    'stored and switched off. No secret is taken from the command line, where others could read it.',
  ],
  async run(context) {
    const { given, progress } = context;
    const config = await definitionOf(context);
    progress(`Looking at ${given.argument('TITLE')} ...`);
    if (given.flag('check')) {
      const { inspected, tools } = await send(context, '/api/mcp/servers/check', checked, config);
      const text = inspected
        ? `It could be added; it has ${tools ?? 0} tools.\n`
        : 'It could be added; it was not looked at.\n';
      return { ending: 'ok', text, json: { added: false, inspected, ...(tools !== undefined && { tools }) } };
    }
    const { serverName, ...server } = await send(context, '/api/mcp/servers', NamedServerView, config);
    const next = server.requiresOAuth ? ` Sign in with: behalf mcp login ${serverName}` : '';
    return {
      ending: 'ok',
      text: clean(`Added ${serverName}.${next}\n`),
      json: { added: true, serverName, requiresOAuth: server.requiresOAuth },
    };
  },
};

/** The look at the server comes first, so what fails at it has stored nothing; that is not left to be guessed. */
async function send<T>(
  { gateway }: Context,
  path: string,
  shape: Shape<T>,
  config: Record<string, unknown>,
): Promise<T> {
  try {
    return await gateway().ask(path, shape, { method: 'POST', body: { config } });
  } catch (error) {
    if (error instanceof GatewayProblem && error.problem.code === 'MCP_INSPECTION_FAILED') {
      throw new CliError(error.ending, `${error.message} Nothing was stored.`, {
        code: error.problem.code,
        action: 'Start the server or correct its address, then add it again. If its users sign in: --oauth.',
      });
    }
    throw error;
  }
}

interface Checked {
  readonly inspected: boolean;
  readonly tools?: number;
}

const checked: Shape<Checked> = {
  safeParse(value) {
    const { inspected, tools } = (value ?? {}) as Record<string, unknown>;
    if (typeof inspected !== 'boolean') return { success: false };
    return { success: true, data: { inspected, ...(typeof tools === 'number' && { tools }) } };
  },
};

async function definitionOf({ given, io }: Context): Promise<Record<string, unknown>> {
  const file = given.text('config');
  if (file === '-' && given.flag('key-stdin'))
    throw usageError('--config - and --key-stdin both read standard input.');
  const base = file === undefined ? {} : await readDefinition(file, io);
  const url = given.text('server-url');
  const type = given.text('type') ?? (typeof base['type'] === 'string' ? undefined : 'streamable-http');
  if (type !== undefined && !types.includes(type)) throw usageError(`--type is one of ${types.join(', ')}.`);
  if (url === undefined && base['url'] === undefined) throw usageError('--server-url is missing.');
  const description = given.text('description');
  return {
    ...base,
    title: given.argument('TITLE'),
    ...(type !== undefined && { type }),
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...signInOf(given, base['oauth']),
    ...(await keyOf({ given, io })),
  };
}

/** That there is an `oauth` says that users sign in. What the file holds of it stays, but for what an option says anew. */
function signInOf(given: Given, inFile: unknown): Record<string, unknown> {
  const clientId = given.text('client-id');
  const scope = given.text('scope');
  if (clientId === undefined && scope === undefined && !given.flag('oauth')) return {};
  return {
    oauth: {
      ...(isMapping(inFile) && inFile),
      ...(clientId !== undefined && { client_id: clientId }),
      ...(scope !== undefined && { scope }),
    },
  };
}

async function keyOf({ given, io }: Pick<Context, 'given' | 'io'>): Promise<Record<string, unknown>> {
  const isShared = given.flag('key-stdin');
  if (isShared && given.flag('user-key')) throw usageError('--key-stdin and --user-key exclude each other.');
  if (given.flag('user-key')) return { apiKey: { source: 'user', authorization_type: 'bearer' } };
  if (!isShared) return {};
  const key = (await io.readStdin()).trim();
  if (key === '') throw usageError('Standard input holds no key.');
  return { apiKey: { source: 'admin', authorization_type: 'bearer', key } };
}

async function readDefinition(file: string, io: Context['io']): Promise<Record<string, unknown>> {
  const text = file === '-' ? await io.readStdin() : await io.readFile(file).catch(() => undefined);
  if (text === undefined) throw usageError(`${file} cannot be read.`);
  try {
    const value: unknown = JSON.parse(text);
    if (isMapping(value)) return value;
  } catch {
    // Told below: the error of the parser quotes the text, which may hold a secret.
  }
  throw usageError(`${file === '-' ? 'Standard input' : file} is no JSON object.`);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
