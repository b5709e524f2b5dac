import { ConnectionStatusesView, NamedServerView, type ServerStatus, ServersView } from '@behalf/contracts';
import { CliError, createUsageError } from '../cliError.ts';
import type { Command, Context, ParsedArguments } from '../command.ts';
import { GatewayProblem, type ResponseSchema, anySchema, definitionPath } from '../gateway/gatewayClient.ts';
import { serverArgument } from '../input/sharedInputs.ts';
import { formatTable, stripControls } from '../output/terminal.ts';

export const mcpList: Command = {
  path: ['mcp', 'list'],
  summary: 'lists your servers and their state',
  arguments: [],
  options: [],
  notes: ['No connection is opened: a server that was never called is "disconnected".'],
  async run({ gateway, style }) {
    const [servers, { connectionStatus }] = await Promise.all([
      gateway().request('/api/mcp/servers', ServersView),
      gateway().request('/api/mcp/connection/status', ConnectionStatusesView),
    ]);
    const entries = Object.entries(servers).map(([name, { title, type, source }]) => ({
      name,
      ...(title !== undefined && { title }),
      ...{ type, source },
      status: connectionStatus[name] ?? null,
    }));
    const rows = entries.map(({ name, status, type, source, title = '' }) => [
      name,
      status?.connectionState ?? 'no access',
      status ? formatSignIn(status) : '',
      type,
      source,
      title,
    ]);
    const text =
      rows.length === 0
        ? 'No servers are available to you.\n'
        : formatTable(['NAME', 'CONNECTION', 'SIGN-IN', 'TYPE', 'SOURCE', 'TITLE'], rows, style);
    return { exitStatus: 'ok', text, json: { servers: entries } };
  },
};

/** The action that the user must take before the server works. */
function formatSignIn({ authorizationState, configurationState }: ServerStatus): string {
  if (configurationState === 'needs_configuration') return 'values missing';
  switch (authorizationState) {
    case 'needs_authorization':
      return 'required';
    case 'authorizing':
      return 'in progress';
    case 'authorized':
      return 'done';
    case 'error':
      return 'unknown';
    case 'not_required':
      return '-';
  }
}

const transportTypes = ['streamable-http', 'sse', 'websocket'];

export const mcpAdd: Command = {
  path: ['mcp', 'add'],
  summary: 'adds a server of your own',
  arguments: [
    {
      name: 'TITLE',
      description: 'Display name. The server name is derived from it: "My tools" becomes my-tools.',
    },
  ],
  options: [
    { name: 'server-url', value: 'URL', description: 'URL of the server.' },
    { name: 'type', value: 'TYPE', description: `${transportTypes.join(', ')}. Default: streamable-http.` },
    { name: 'description', value: 'TEXT', description: 'Purpose of the server.' },
    { name: 'oauth', description: 'Users sign in at the server (OAuth).' },
    {
      name: 'client-id',
      value: 'ID',
      description: 'Id of a registered OAuth client. Implies --oauth.',
    },
    { name: 'scope', value: 'SCOPES', description: 'OAuth scopes to request. Implies --oauth.' },
    {
      name: 'key-stdin',
      description: 'Reads a key of the server from standard input. It is sent as a bearer token.',
    },
    { name: 'user-key', description: 'Every user enters their own key.' },
    {
      name: 'config',
      value: 'FILE',
      description: 'A JSON file with the definition; options override it. "-": standard input.',
    },
    { name: 'check', description: 'Only checks whether the server can be added. Nothing is stored.' },
  ],
  notes: [
    'The key needs the scope servers. The gateway inspects the server before it stores the definition. A server whose users',
    'must first sign in or enter a value is stored without an inspection. A server that does not respond is not stored.',
    'Secrets are not accepted on the command line, where other processes could read them.',
  ],
  async run(context) {
    const { input, progress } = context;
    const config = await readServerDefinition(context);
    progress(`Inspecting ${input.argument('TITLE')} ...`);
    if (input.flag('check')) {
      const { inspected, tools } = await sendDefinition(
        context,
        '/api/mcp/servers/check',
        checkResultSchema,
        config,
      );
      const text = inspected
        ? `The server can be added; it has ${tools ?? 0} tools.\n`
        : 'The server can be added; it was not inspected.\n';
      return {
        exitStatus: 'ok',
        text,
        json: { added: false, inspected, ...(tools !== undefined && { tools }) },
      };
    }
    const { serverName, ...server } = await sendDefinition(
      context,
      '/api/mcp/servers',
      NamedServerView,
      config,
    );
    const next = server.requiresOAuth ? ` Sign in with: behalf mcp login ${serverName}` : '';
    return {
      exitStatus: 'ok',
      text: stripControls(`Added ${serverName}.${next}\n`),
      json: { added: true, serverName, requiresOAuth: server.requiresOAuth },
    };
  },
};

/** The gateway tests the server before it stores it. If the test fails, the message says that nothing was stored. */
async function sendDefinition<T>(
  { gateway }: Context,
  path: string,
  schema: ResponseSchema<T>,
  config: Record<string, unknown>,
): Promise<T> {
  try {
    return await gateway().request(path, schema, { method: 'POST', body: { config } });
  } catch (error) {
    if (error instanceof GatewayProblem && error.problem.code === 'MCP_INSPECTION_FAILED') {
      throw new CliError(error.exitStatus, `${error.message} Nothing was stored.`, {
        code: error.problem.code,
        action:
          'Start the server or correct its address, then add it again. If its users must sign in, add --oauth.',
      });
    }
    throw error;
  }
}

interface CheckResult {
  readonly inspected: boolean;
  readonly tools?: number;
}

const checkResultSchema: ResponseSchema<CheckResult> = {
  safeParse(value) {
    const { inspected, tools } = (value ?? {}) as Record<string, unknown>;
    if (typeof inspected !== 'boolean') return { success: false };
    return { success: true, data: { inspected, ...(typeof tools === 'number' && { tools }) } };
  },
};

async function readServerDefinition({ input, io }: Context): Promise<Record<string, unknown>> {
  const file = input.text('config');
  if (file === '-' && input.flag('key-stdin'))
    throw createUsageError('--config - and --key-stdin both read standard input.');
  const base = file === undefined ? {} : await readDefinition(file, io);
  const url = input.text('server-url');
  const type = input.text('type') ?? (typeof base['type'] === 'string' ? undefined : 'streamable-http');
  if (type !== undefined && !transportTypes.includes(type))
    throw createUsageError(`--type must be one of ${transportTypes.join(', ')}.`);
  if (url === undefined && base['url'] === undefined) throw createUsageError('--server-url is missing.');
  const description = input.text('description');
  return {
    ...base,
    title: input.argument('TITLE'),
    ...(type !== undefined && { type }),
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...toOAuthOptions(input, base['oauth']),
    ...(await readKeyOptions({ input, io })),
  };
}

/** An `oauth` section means that users sign in. Values of the file are kept unless an option overrides them. */
function toOAuthOptions(input: ParsedArguments, fileOptions: unknown): Record<string, unknown> {
  const clientId = input.text('client-id');
  const scope = input.text('scope');
  if (clientId === undefined && scope === undefined && !input.flag('oauth')) return {};
  return {
    oauth: {
      ...(isMapping(fileOptions) && fileOptions),
      ...(clientId !== undefined && { client_id: clientId }),
      ...(scope !== undefined && { scope }),
    },
  };
}

async function readKeyOptions({
  input,
  io,
}: Pick<Context, 'input' | 'io'>): Promise<Record<string, unknown>> {
  const isShared = input.flag('key-stdin');
  if (isShared && input.flag('user-key'))
    throw createUsageError('--key-stdin and --user-key cannot be combined.');
  if (input.flag('user-key')) return { apiKey: { source: 'user', authorization_type: 'bearer' } };
  if (!isShared) return {};
  const key = (await io.readStdin()).trim();
  if (key === '') throw createUsageError('Standard input contains no key.');
  return { apiKey: { source: 'admin', authorization_type: 'bearer', key } };
}

async function readDefinition(file: string, io: Context['io']): Promise<Record<string, unknown>> {
  const text = file === '-' ? await io.readStdin() : await io.readFile(file).catch(() => undefined);
  if (text === undefined) throw createUsageError(`${file} cannot be read.`);
  try {
    const value: unknown = JSON.parse(text);
    if (isMapping(value)) return value;
  } catch {
    // Reported below. The parser's own message quotes the text, which may contain a secret.
  }
  throw createUsageError(`${file === '-' ? 'Standard input' : file} is not a JSON object.`);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const mcpRemove: Command = {
  path: ['mcp', 'remove'],
  summary: 'removes a server of your own, with all its stored data',
  arguments: [serverArgument],
  options: [{ name: 'yes', description: 'Does not ask for confirmation. Required without a terminal.' }],
  notes: ['The key needs the scope servers. The values and sign-ins of all its users are removed too.'],
  async run({ input, gateway, io }) {
    const name = input.argument('SERVER');
    if (!input.flag('yes')) {
      if (!io.isInteractive)
        throw new CliError('usage', 'There is no terminal for the confirmation: add --yes.', {
          code: 'usage',
        });
      const reply = await io.prompt(
        `Remove ${stripControls(name)} with all values and sign-ins of its users? [y/N] `,
      );
      if (!/^y(es)?$/i.test(reply.trim())) {
        return {
          exitStatus: 'failed',
          text: 'Nothing was removed.\n',
          json: { removed: false, serverName: name },
        };
      }
    }
    await gateway().request(definitionPath(name), anySchema, { method: 'DELETE' });
    return {
      exitStatus: 'ok',
      text: stripControls(`Removed ${name}.\n`),
      json: { removed: true, serverName: name },
    };
  },
};
