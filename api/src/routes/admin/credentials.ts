import { DiagnoseUserRequest, ReauthCampaignRequest } from '@behalf/contracts';
import {
  type Audit,
  type CredentialVault,
  type DiagnoseParts,
  GatewayError,
  type Registry,
  type UserAdmin,
  actorOf,
  credentialHolder,
  diagnose,
  toPrincipal,
} from '@behalf/gateway';
import type { UserStore } from '@behalf/gateway/ports';
import { createDisconnectSignal, readBody } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';

interface DiagnoseUserParts {
  readonly diagnosis: DiagnoseParts;
  readonly users: Pick<UserAdmin, 'view'>;
  readonly audit: Pick<Audit, 'record'>;
}

/**
 * Why calls of somebody else do or do not work, for an administrator of their tenant. How their credential stands is told;
 * it is not used. That it was asked is written down first: it is about a person.
 */
export function diagnoseUserRoute({ diagnosis, users, audit }: DiagnoseUserParts): Route {
  return {
    method: 'post',
    path: '/api/admin/credentials/diagnose',
    access: 'admin',
    scope: 'admin',
    async handle(req, res, caller) {
      const { serverName, userId } = readBody(req, DiagnoseUserRequest);
      const user = await users.view(caller, userId);
      await audit.record({
        kind: 'credential',
        action: 'credential.diagnose',
        tenant: caller.tenant,
        actor: actorOf(caller),
        door: 'admin',
        outcome: 'ok',
        ...{ server: serverName, subject: user.id },
      });
      if (user.disabledAt !== null) {
        throw new GatewayError('REQUEST_INVALID', {
          detail: 'This account is disabled, so all of its calls fail.',
        });
      }
      // As one who came with a token that we do not have: there is nothing that could be exchanged.
      const principal = toPrincipal(user, { via: 'bearer' });
      const signal = createDisconnectSignal(res);
      res.json(
        await diagnose(diagnosis, serverName, { principal, door: 'rest', signal, isForOtherUser: true }),
      );
    },
  };
}

interface ReauthRouteParts {
  readonly registry: Pick<Registry, 'find'>;
  readonly vault: Pick<CredentialVault, 'list' | 'requireSignIn'>;
  readonly users: Pick<UserStore, 'list'>;
  readonly audit: Pick<Audit, 'record'>;
}

const PAGE_SIZE = 200;

/** Everybody of the caller's tenant who has a grant at a server has to sign in there again. What they have is kept. */
export function reauthRoute({ registry, vault, users, audit }: ReauthRouteParts): Route {
  async function markCredentials(tenant: string, serverId: string): Promise<number> {
    let marked = 0;
    for (let after: string | null = null; ;) {
      const page = await users.list(tenant, { after, limit: PAGE_SIZE });
      for (const { id: userId } of page) {
        const credentials = await vault.list(tenant, credentialHolder({ userId }), serverId);
        for (const credential of credentials) {
          if (credential.kind !== 'oauth_code') continue;
          if (await vault.requireSignIn(credential, 'interaction_required')) marked += 1;
        }
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE_SIZE) return marked;
      after = last.id;
    }
  }

  return {
    method: 'post',
    path: '/api/admin/credentials/reauth',
    access: 'admin',
    scope: 'admin',
    async handle(req, res, caller) {
      const { serverName } = readBody(req, ReauthCampaignRequest);
      const server = registry.find(caller.tenant, serverName);
      if (!server) throw new GatewayError('MCP_SERVER_NOT_FOUND');
      const marked = await markCredentials(caller.tenant, server.id);
      await audit.record({
        kind: 'credential',
        action: 'credential.reauth',
        tenant: caller.tenant,
        actor: actorOf(caller),
        door: 'admin',
        outcome: 'ok',
        ...{ server: server.name, serverId: server.id, count: marked },
      });
      res.json({ marked });
    },
  };
}
