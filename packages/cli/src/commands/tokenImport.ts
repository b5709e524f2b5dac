import { ImportedCredentialView, type ImportCredentialRequest } from '@behalf/contracts';
import { createUsageError } from '../cliError.ts';
import type { Command, ParsedArguments } from '../command.ts';
import { serverPath } from '../gateway/paths.ts';
import { parseTokenInput } from '../input/readToken.ts';
import { stripControls } from '../output/stripControls.ts';
import { formatCredential, toCredentialJson } from '../output/credential.ts';
import { serverArgument } from './serverArgument.ts';

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
