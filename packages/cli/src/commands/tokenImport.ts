import { ImportedCredentialView, type ImportCredentialRequest } from '@behalf/contracts';
import { usageError } from '../cliError.ts';
import type { Command, Given } from '../command.ts';
import { ofServer } from '../gateway/paths.ts';
import { readToken } from '../input/readToken.ts';
import { clean } from '../output/clean.ts';
import { credentialLine, shownCredential } from '../output/credential.ts';
import { serverArgument } from './serverArgument.ts';

export const tokenImport: Command = {
  path: ['mcp', 'token', 'import'],
  summary: 'brings a token of yours for a server',
  arguments: [serverArgument],
  options: [
    {
      name: 'stdin',
      about: 'Reads it from standard input. There is no other way: others can read a command line.',
    },
    { name: 'label', value: 'LABEL', about: 'Which of several credentials. Default: default.' },
    {
      name: 'expires-in',
      value: 'SECONDS',
      about: 'How long it is good, where that does not stand in the JSON.',
    },
    { name: 'issuer', value: 'URL', about: 'Who gave it. Needed with a refresh token.' },
    { name: 'client-id', value: 'ID', about: 'To whom it was given. Needed with a refresh token.' },
  ],
  notes: [
    'Standard input holds the token alone, or JSON as an authorization server answers: access_token, refresh_token, expires_in,',
    'scope. The server is asked with it first: what it refuses is not stored; where it does not answer that is said. It takes the',
    'place of a token that was brought under its label, never of a sign-in, and every gateway knows it within 2 s. Where you are',
    'signed in the sign-in stays in use until you choose the token on the page of the server. It is never printed: what is shown',
    'is its fingerprint. Needs a key with the scope servers.',
  ],
  async run({ given, gateway, io }) {
    if (!given.flag('stdin')) throw usageError('Say --stdin and give the token on standard input.');
    const server = given.argument('SERVER');
    const body: ImportCredentialRequest = { ...readToken(await io.readStdin()), ...laidOver(given) };
    const stored = await gateway().ask(ofServer(server, 'credential'), ImportedCredentialView, {
      method: 'PUT',
      body,
    });
    return {
      ending: 'ok',
      text: clean(`Stored for ${server}: ${credentialLine(stored, io.now())}\n${tried[stored.probe]}`),
      json: { credential: shownCredential(stored), probe: stored.probe },
    };
  },
};

const tried: Record<ImportedCredentialView['probe'], string> = {
  ok: '',
  unverified: 'The server also answers without a token, so nobody can say whether it takes this one.\n',
  unreachable: 'The server could not be asked, so nobody can say whether it takes this one.\n',
};

function laidOver(given: Given): Partial<ImportCredentialRequest> {
  const seconds = given.text('expires-in');
  if (seconds !== undefined && !/^[1-9]\d{0,9}$/.test(seconds))
    throw usageError('--expires-in is a number of seconds.');
  const [label, issuer, clientId] = [given.text('label'), given.text('issuer'), given.text('client-id')];
  return {
    ...(seconds !== undefined && { expiresIn: Number(seconds) }),
    ...(label !== undefined && { label }),
    ...(issuer !== undefined && { issuer }),
    ...(clientId !== undefined && { clientId }),
  };
}
