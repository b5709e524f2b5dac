import { ConnectionStatusesView, CredentialsView, type CredentialView } from '@behalf/contracts';
import type { Command } from '../command.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { ofServer } from '../gateway/paths.ts';
import { expiryOf, shownCredential } from '../output/credential.ts';
import { table } from '../output/table.ts';

export const tokenList: Command = {
  path: ['mcp', 'token', 'list'],
  summary: 'your credentials at servers, without a token',
  arguments: [{ name: 'SERVER', about: 'Those of one server. Default: of all.', optional: true }],
  options: [],
  notes: ['A fingerprint tells two tokens apart and leads to neither.'],
  async run({ given, gateway, io, style }) {
    const only = given.optional('SERVER');
    const names = only === undefined ? await allServers(gateway()) : [only];
    const credentials: CredentialView[] = [];
    for (const name of names) {
      credentials.push(...(await gateway().ask(ofServer(name, 'credentials'), CredentialsView)).credentials);
    }
    const rows = credentials.map((one) => [
      one.server,
      one.isDefault ? `${one.label} *` : one.label,
      one.kind === 'static' ? 'brought' : 'sign-in',
      one.reason === undefined ? one.status : `${one.status}: ${one.reason}`,
      one.fingerprint ?? '-',
      expiryOf(one, io.now()),
      one.hasRefreshToken ? 'yes' : 'no',
    ]);
    const text =
      rows.length === 0
        ? 'You have no credentials there.\n'
        : table(['SERVER', 'LABEL', 'KIND', 'STATUS', 'FINGERPRINT', 'END', 'RENEWED'], rows, style);
    return { ending: 'ok', text, json: { credentials: credentials.map(shownCredential) } };
  },
};

async function allServers(gateway: Gateway): Promise<string[]> {
  const { connectionStatus } = await gateway.ask('/api/mcp/connection/status', ConnectionStatusesView);
  return Object.keys(connectionStatus).sort();
}
