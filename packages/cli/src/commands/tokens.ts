import {
  ConnectionStatusesView,
  type CredentialView,
  CredentialsView,
  type ImportCredentialRequest,
  ImportedCredentialView,
} from '@behalf/contracts';
import { createUsageError } from '../cliError.ts';
import type { Command, ParsedArguments } from '../command.ts';
import { type GatewayClient, serverPath } from '../gateway/gatewayClient.ts';
import { serverArgument } from '../input/sharedInputs.ts';
import { formatCredential, formatExpiry, toCredentialJson } from '../output/credential.ts';
import { formatTable, stripControls } from '../output/terminal.ts';

export const tokenImport: Command = {
  path: ['mcp', 'token', 'import'],
  summary: 'imports your token for a server',
  arguments: [serverArgument],
  options: [
    {
      name: 'stdin',
      description:
        'Reads the token from standard input. There is no other way, because other processes can read a command line.',
    },
    { name: 'label', value: 'LABEL', description: 'Label of the credential. Default: default.' },
    {
      name: 'expires-in',
      value: 'SECONDS',
      description: 'Lifetime of the token, if the JSON does not contain it.',
    },
    { name: 'issuer', value: 'URL', description: 'Issuer of the token. Required with a refresh token.' },
    {
      name: 'client-id',
      value: 'ID',
      description: 'Client to which the token was issued. Required with a refresh token.',
    },
  ],
  notes: [
    'Standard input contains only the token, or JSON in the format of a token response: access_token, refresh_token, expires_in,',
    'scope. The gateway first calls the server with the token. A token that the server rejects is not stored. The token replaces',
    'an imported token with the same label, never a sign-in, and all replicas use it within 2 s. If you are also',
    'signed in, the sign-in stays in use until you select the token on the page of the server. The token is never printed, only',
    'its fingerprint. Needs a key with the scope servers.',
  ],
  async run({ input, gateway, io }) {
    if (!input.flag('stdin')) throw createUsageError('Use --stdin and pass the token on standard input.');
    const server = input.argument('SERVER');
    const body: ImportCredentialRequest = {
      ...parseTokenInput(await io.readStdin()),
      ...readOverrides(input),
    };
    const stored = await gateway().request(serverPath(server, 'credential'), ImportedCredentialView, {
      method: 'PUT',
      body,
    });
    return {
      exitStatus: 'ok',
      text: stripControls(
        `Stored for ${server}: ${formatCredential(stored, io.now())}\n${probeTexts[stored.probe]}`,
      ),
      json: { credential: toCredentialJson(stored), probe: stored.probe },
    };
  },
};

const probeTexts: Record<ImportedCredentialView['probe'], string> = {
  ok: '',
  unverified: 'The server also responds without a token, so this token could not be verified.\n',
  unreachable: 'The server could not be reached, so this token could not be verified.\n',
};

function readOverrides(input: ParsedArguments): Partial<ImportCredentialRequest> {
  const seconds = input.text('expires-in');
  if (seconds !== undefined && !/^[1-9]\d{0,9}$/.test(seconds))
    throw createUsageError('--expires-in must be a number of seconds.');
  const [label, issuer, clientId] = [input.text('label'), input.text('issuer'), input.text('client-id')];
  return {
    ...(seconds !== undefined && { expiresIn: Number(seconds) }),
    ...(label !== undefined && { label }),
    ...(issuer !== undefined && { issuer }),
    ...(clientId !== undefined && { clientId }),
  };
}

export const tokenList: Command = {
  path: ['mcp', 'token', 'list'],
  summary: 'lists your credentials at servers, without tokens',
  arguments: [
    {
      name: 'SERVER',
      description: 'Only the credentials of this server. Default: all servers.',
      optional: true,
    },
  ],
  options: [],
  notes: ['A fingerprint identifies a token without revealing it.'],
  async run({ input, gateway, io, style }) {
    const server = input.optional('SERVER');
    const names = server === undefined ? await listServerNames(gateway()) : [server];
    const credentials: CredentialView[] = [];
    for (const name of names) {
      credentials.push(
        ...(await gateway().request(serverPath(name, 'credentials'), CredentialsView)).credentials,
      );
    }
    const rows = credentials.map((credential) => [
      credential.server,
      credential.isDefault ? `${credential.label} *` : credential.label,
      credential.kind === 'static' ? 'imported' : 'sign-in',
      credential.reason === undefined ? credential.status : `${credential.status}: ${credential.reason}`,
      credential.fingerprint ?? '-',
      formatExpiry(credential, io.now()),
      credential.hasRefreshToken ? 'yes' : 'no',
    ]);
    const text =
      rows.length === 0
        ? 'You have no credentials.\n'
        : formatTable(['SERVER', 'LABEL', 'KIND', 'STATUS', 'FINGERPRINT', 'EXPIRY', 'REFRESH'], rows, style);
    return { exitStatus: 'ok', text, json: { credentials: credentials.map(toCredentialJson) } };
  },
};

async function listServerNames(gateway: GatewayClient): Promise<string[]> {
  const { connectionStatus } = await gateway.request('/api/mcp/connection/status', ConnectionStatusesView);
  return Object.keys(connectionStatus).sort();
}

type TokenInput = Pick<
  ImportCredentialRequest,
  'accessToken' | 'refreshToken' | 'expiresIn' | 'scope' | 'issuer' | 'clientId'
>;

/** Maps names of a token response (RFC 6749 section 5.1) and of the API. */
const responseFields = {
  accessToken: 'access_token',
  refreshToken: 'refresh_token',
  expiresIn: 'expires_in',
  scope: 'scope',
  issuer: 'issuer',
  clientId: 'client_id',
} as const satisfies Record<keyof TokenInput, string>;

/** Parses standard input: a bare token, or the JSON of a token response. Error messages never contain the input. */
export function parseTokenInput(text: string): TokenInput {
  const trimmed = text.trim();
  if (trimmed === '') throw createUsageError('Standard input contains no token.');
  if (!trimmed.startsWith('{')) {
    if (/\s/.test(trimmed))
      throw createUsageError('Standard input contains spaces: pass one token, or JSON that begins with {.');
    return { accessToken: trimmed };
  }
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(trimmed) as Record<string, unknown>;
  } catch {
    throw createUsageError('Standard input is not a JSON object.');
  }
  const token: Record<string, unknown> = {};
  for (const [field, responseField] of Object.entries(responseFields)) {
    const value = fields[field] ?? fields[responseField];
    if (value !== undefined && value !== null) token[field] = value;
  }
  const { accessToken, expiresIn } = token;
  if (typeof accessToken !== 'string' || accessToken === '')
    throw createUsageError('Standard input contains no access_token.');
  // Some providers return `expires_in` as a string.
  if (typeof expiresIn === 'string' && /^\d+$/.test(expiresIn)) token['expiresIn'] = Number(expiresIn);
  return token as TokenInput;
}
