import { ConnectionStatusesView, ServersView, type ServerStatus } from '@behalf/contracts';
import type { Command } from '../command.ts';
import { formatTable } from '../output/formatTable.ts';

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

/** What a user has to do before it works. */
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
