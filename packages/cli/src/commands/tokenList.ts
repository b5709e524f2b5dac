import { ConnectionStatusesView, CredentialsView, type CredentialView } from '@behalf/contracts';
import type { Command } from '../command.ts';
import type { GatewayClient } from '../gateway/gatewayClient.ts';
import { serverPath } from '../gateway/paths.ts';
import { formatExpiry, toCredentialJson } from '../output/credential.ts';
import { formatTable } from '../output/formatTable.ts';

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
