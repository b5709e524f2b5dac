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
import { recordSuccess } from '../../http/audit.ts';
import { readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';
import type { ServerSignInParts } from '../oauth/flows.ts';

interface CredentialRouteParts extends ServerSignInParts, EndConnectionsParts {
  readonly vault: CredentialVault;
  readonly usage: Pick<CredentialUsageStore, 'find'>;
}

/** A user's own credentials at a server: list, select the default, disconnect and import. No response contains a token. */
export function credentialRoutes(parts: CredentialRouteParts): Route[] {
  const { vault, usage, invalidateUserState, audit, oauth } = parts;

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

  function eventOf(action: string, server: ServerSnapshot, label?: string) {
    return {
      kind: 'credential',
      action,
      door: 'rest',
      server: server.name,
      serverId: server.id,
      ...(label !== undefined && { subject: label }),
    } as const;
  }

  async function disconnect(
    server: ServerSnapshot,
    caller: UserPrincipal,
    label?: string,
  ): Promise<DisconnectView> {
    const view = await endConnections(parts, server, caller, label);
    await recordSuccess(audit, caller, eventOf('oauth.disconnect', server, label));
    return view;
  }

  return [
    signedInRoute('get', '/api/mcp/:serverName/credentials', 'mcp', async (req, res, caller) => {
      const { serverName } = req.params;
      const server = findServer(parts, caller, serverName);
      const credentials = await credentialsAt(parts, server, caller);
      const view: CredentialsView = {
        credentials: await Promise.all(credentials.map((summary) => viewOf(server, summary))),
      };
      res.json(view);
    }),
    signedInRoute('patch', '/api/mcp/:serverName/credentials/:label', 'servers', async (req, res, caller) => {
      const { serverName, label } = req.params;
      readBody(req, CredentialChange);
      const server = findServer(parts, caller, serverName);
      const [selected] = await credentialsAt(parts, server, caller, label);
      if (!selected || !(await vault.makeDefault(selected.id)))
        throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
      await invalidateUserState(server.id, principalKey(caller));
      await recordSuccess(audit, caller, eventOf('credential.choose', server, label));
      res.json(await viewOf(server, { ...selected, isDefault: true }));
    }),
    signedInRoute(
      'delete',
      '/api/mcp/:serverName/credentials/:label',
      'servers',
      async (req, res, caller) => {
        const { serverName, label } = req.params;
        const server = findServer(parts, caller, serverName);
        if ((await credentialsAt(parts, server, caller, label)).length === 0)
          throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
        res.json(await disconnect(server, caller, label));
      },
    ),
    signedInRoute('post', '/api/mcp/:serverName/oauth/disconnect', 'servers', async (req, res, caller) => {
      res.json(await disconnect(findServer(parts, caller, req.params.serverName), caller));
    }),
    signedInRoute('put', '/api/mcp/:serverName/credential', 'servers', async (req, res, caller) => {
      const { serverName } = req.params;
      const request = readBody(req, ImportCredentialRequest);
      const server = findServer(parts, caller, serverName);
      const { credential, probe } = await withAudit(
        audit,
        {
          ...eventOf('credential.import', server, request.label),
          tenant: caller.tenant,
          actor: actorOf(caller),
        },
        async (details) => {
          const result = await oauth.importCredential(server, caller, request);
          details.subject = result.credential.label;
          await invalidateUserState(server.id, principalKey(caller));
          return { result };
        },
      );
      res.json({ ...(await viewOf(server, credential)), probe } satisfies ImportedCredentialView);
    }),
  ];
}

export interface EndConnectionsParts {
  readonly vault: Pick<CredentialVault, 'list' | 'disconnect'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByUser'>;
  /** Closes the connections and drops the lists that were obtained with the old credential. */
  readonly invalidateUserState: (serverId: string, principal: string) => Promise<void>;
}

/** From worst to best: the result for several credentials is the worst of them. */
const REVOCATION_SEVERITY = [
  'failed',
  'unsupported',
  'yes',
  'none',
] as const satisfies DisconnectView['revoked'][];

/** A user's own credentials at a server, optionally only those with a label. */
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
  // A revoked credential keeps its label until a new credential takes it over. The new one has precedence.
  const active = labeled.filter(({ status }) => status !== 'revoked');
  return active.length > 0 ? active : labeled;
}

/** Removes credentials from the vault, then revokes them at the authorization server. Ends pending sign-ins as well. */
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
