import {
  CredentialChange,
  ImportCredentialRequest,
  type ImportedCredentialView,
  type CredentialsView,
  type CredentialView,
  type DisconnectView,
} from '@behalf/contracts';
import {
  actorOf,
  findServer,
  GatewayError,
  principalKey,
  withAudit,
  type CredentialSummary,
  type CredentialVault,
  type ServerSnapshot,
  type UserPrincipal,
} from '@behalf/gateway';
import type { CredentialUsageStore } from '@behalf/gateway/ports';
import type { Route } from '../http.ts';
import { readBody } from '../middleware/body.ts';
import { credentialsAt, endConnections, type EndParts } from './endConnections.ts';
import type { SignInParts } from './signInParts.ts';

export interface CredentialRouteParts extends SignInParts, EndParts {
  readonly vault: CredentialVault;
  readonly usage: Pick<CredentialUsageStore, 'find'>;
}

type Event = Parameters<typeof withAudit>[1];

function eventOf(action: string, server: ServerSnapshot, caller: UserPrincipal, label?: string): Event {
  return {
    kind: 'credential',
    action,
    tenant: caller.tenant,
    actor: actorOf(caller),
    door: 'rest',
    ...{ server: server.name, serverId: server.id },
    ...(label !== undefined && { subject: label }),
  };
}

/** A user's own credentials at a server: seeing, choosing, ending and bringing them. No token is ever shown. */
export function credentialRoutes(parts: CredentialRouteParts): Route[] {
  const { vault, usage, forget, audit, oauth } = parts;

  const ownAt = (server: ServerSnapshot, caller: UserPrincipal, label?: string) =>
    credentialsAt(parts, server, caller, label);

  async function viewOf(server: ServerSnapshot, summary: CredentialSummary): Promise<CredentialView> {
    const { id, label, isDefault, status, reason, issuer, scopes, expiresAt } = summary;
    const { hasRefreshToken, fingerprint, createdAt, updatedAt } = summary;
    const used = await usage.find(id);
    return {
      ...{ id, server: server.name, label, isDefault, status, issuer, scopes, expiresAt },
      ...{ hasRefreshToken, fingerprint, createdAt, updatedAt },
      kind: summary.kind === 'static' ? 'static' : 'oauth_code',
      ...(reason !== null && { reason }),
      since: summary.statusAt,
      lastUsedAt: used?.lastUsedAt ?? null,
    };
  }

  function told(
    action: string,
    server: ServerSnapshot,
    caller: UserPrincipal,
    label?: string,
  ): Promise<void> {
    return audit.record({ ...eventOf(action, server, caller, label), outcome: 'ok' });
  }

  async function disconnect(
    server: ServerSnapshot,
    caller: UserPrincipal,
    label?: string,
  ): Promise<DisconnectView> {
    const view = await endConnections(parts, server, caller, label);
    await told('oauth.disconnect', server, caller, label);
    return view;
  }

  return [
    {
      method: 'get',
      path: '/api/mcp/:serverName/credentials',
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const server = findServer(parts, caller, serverName);
        const own = await ownAt(server, caller);
        const view: CredentialsView = {
          credentials: await Promise.all(own.map((summary) => viewOf(server, summary))),
        };
        res.json(view);
      },
    },
    {
      method: 'patch',
      path: '/api/mcp/:serverName/credentials/:label',
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { serverName, label } = req.params as { serverName: string; label: string };
        readBody(req, CredentialChange);
        const server = findServer(parts, caller, serverName);
        const [chosen] = await ownAt(server, caller, label);
        if (!chosen || !(await vault.makeDefault(chosen.id)))
          throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
        await forget(server.id, principalKey(caller));
        await told('credential.choose', server, caller, label);
        res.json(await viewOf(server, { ...chosen, isDefault: true }));
      },
    },
    {
      method: 'delete',
      path: '/api/mcp/:serverName/credentials/:label',
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { serverName, label } = req.params as { serverName: string; label: string };
        const server = findServer(parts, caller, serverName);
        if ((await ownAt(server, caller, label)).length === 0)
          throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
        res.json(await disconnect(server, caller, label));
      },
    },
    {
      method: 'post',
      path: '/api/mcp/:serverName/oauth/disconnect',
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        res.json(await disconnect(findServer(parts, caller, serverName), caller));
      },
    },
    {
      method: 'put',
      path: '/api/mcp/:serverName/credential',
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { serverName } = req.params as { serverName: string };
        const request = readBody(req, ImportCredentialRequest);
        const server = findServer(parts, caller, serverName);
        const { credential, probe } = await withAudit(
          audit,
          eventOf('credential.import', server, caller, request.label),
          async (trail) => {
            const result = await oauth.importCredential(server, caller, request);
            trail.subject = result.credential.label;
            await forget(server.id, principalKey(caller));
            return { result };
          },
        );
        const view: ImportedCredentialView = { ...(await viewOf(server, credential)), probe };
        res.json(view);
      },
    },
  ];
}
