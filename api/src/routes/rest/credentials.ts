import {
  CredentialChange,
  type CredentialView,
  type CredentialsView,
  type DisconnectView,
  ImportCredentialRequest,
  type ImportedCredentialView,
} from '@behalf/contracts';
import {
  type CredentialSummary,
  type CredentialVault,
  GatewayError,
  type ServerSnapshot,
  type UserPrincipal,
  actorOf,
  credentialHolder,
  findServer,
  principalKey,
  withAudit,
} from '@behalf/gateway';
import type { CredentialUsageStore, OAuthFlowStore } from '@behalf/gateway/ports';
import { readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import type { ServerSignInParts } from '../oauth/flows.ts';

interface CredentialRouteParts extends ServerSignInParts, EndConnectionsParts {
  readonly vault: CredentialVault;
  readonly usage: Pick<CredentialUsageStore, 'find'>;
}

type CredentialEvent = Parameters<typeof withAudit>[1];

function credentialEvent(
  action: string,
  server: ServerSnapshot,
  caller: UserPrincipal,
  label?: string,
): CredentialEvent {
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
  const { vault, usage, invalidateUserState, audit, oauth } = parts;

  const listOwnCredentials = (server: ServerSnapshot, caller: UserPrincipal, label?: string) =>
    credentialsAt(parts, server, caller, label);

  async function viewOf(server: ServerSnapshot, summary: CredentialSummary): Promise<CredentialView> {
    const { id, label, isDefault, status, reason, issuer, scopes, expiresAt } = summary;
    const { hasRefreshToken, fingerprint, createdAt, updatedAt } = summary;
    const lastUse = await usage.find(id);
    return {
      ...{ id, server: server.name, label, isDefault, status, issuer, scopes, expiresAt },
      ...{ hasRefreshToken, fingerprint, createdAt, updatedAt },
      kind: summary.kind === 'static' ? 'static' : 'oauth_code',
      ...(reason !== null && { reason }),
      since: summary.statusAt,
      lastUsedAt: lastUse?.lastUsedAt ?? null,
    };
  }

  function recordEvent(
    action: string,
    server: ServerSnapshot,
    caller: UserPrincipal,
    label?: string,
  ): Promise<void> {
    return audit.record({ ...credentialEvent(action, server, caller, label), outcome: 'ok' });
  }

  async function disconnect(
    server: ServerSnapshot,
    caller: UserPrincipal,
    label?: string,
  ): Promise<DisconnectView> {
    const view = await endConnections(parts, server, caller, label);
    await recordEvent('oauth.disconnect', server, caller, label);
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
        const credentials = await listOwnCredentials(server, caller);
        const view: CredentialsView = {
          credentials: await Promise.all(credentials.map((summary) => viewOf(server, summary))),
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
        const [selected] = await listOwnCredentials(server, caller, label);
        if (!selected || !(await vault.makeDefault(selected.id)))
          throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
        await invalidateUserState(server.id, principalKey(caller));
        await recordEvent('credential.choose', server, caller, label);
        res.json(await viewOf(server, { ...selected, isDefault: true }));
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
        if ((await listOwnCredentials(server, caller, label)).length === 0)
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
          credentialEvent('credential.import', server, caller, request.label),
          async (auditContext) => {
            const result = await oauth.importCredential(server, caller, request);
            auditContext.subject = result.credential.label;
            await invalidateUserState(server.id, principalKey(caller));
            return { result };
          },
        );
        const view: ImportedCredentialView = { ...(await viewOf(server, credential)), probe };
        res.json(view);
      },
    },
  ];
}

export interface EndConnectionsParts {
  readonly vault: Pick<CredentialVault, 'list' | 'disconnect'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByUser'>;
  /** What was opened or listed with the old token is of no use any more. */
  readonly invalidateUserState: (serverId: string, principal: string) => Promise<void>;
}

/** From the worst to the best that can be said of several. */
const REVOCATION_SEVERITY = [
  'failed',
  'unsupported',
  'yes',
  'none',
] as const satisfies DisconnectView['revoked'][];

/** A user's own credentials at a server: all, or those of a label. */
export async function credentialsAt(
  { vault }: Pick<EndConnectionsParts, 'vault'>,
  { id }: ServerSnapshot,
  caller: UserPrincipal,
  label?: string,
): Promise<CredentialSummary[]> {
  const all = await vault.list(caller.tenant, credentialHolder(caller), id);
  const credentials = all.filter(({ kind }) => kind === 'oauth_code' || kind === 'static');
  if (label === undefined) return credentials;
  const labeled = credentials.filter((credential) => credential.label === label);
  // What was ended keeps its label until another takes it: that one is meant.
  const active = labeled.filter(({ status }) => status !== 'revoked');
  return active.length > 0 ? active : labeled;
}

/** Ends them: here first, then at the authorization server; pending sign-ins there end too. */
export async function endConnections(
  parts: EndConnectionsParts,
  server: ServerSnapshot,
  caller: UserPrincipal,
  label?: string,
): Promise<DisconnectView> {
  const { vault, flows, invalidateUserState } = parts;
  const results: { existed: boolean; revoked: DisconnectView['revoked'] }[] = [];
  for (const credential of await credentialsAt(parts, server, caller, label)) {
    results.push(await vault.disconnect(credential));
  }
  await flows.removeByUser(caller.tenant, caller.userId, server.id);
  await invalidateUserState(server.id, principalKey(caller));
  return {
    disconnected: results.some(({ existed }) => existed),
    revoked:
      REVOCATION_SEVERITY.find((outcome) => results.some(({ revoked }) => revoked === outcome)) ?? 'none',
  };
}
