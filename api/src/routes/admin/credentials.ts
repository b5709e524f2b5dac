import { DiagnoseUserRequest, ReauthCampaignRequest } from '@behalf/contracts';
import {
  type Audit,
  type CredentialVault,
  type DiagnoseParts,
  GatewayError,
  type Registry,
  type UserAdmin,
  credentialHolder,
  diagnose,
  toPrincipal,
} from '@behalf/gateway';
import type { UserRecord, UserStore } from '@behalf/gateway/ports';
import { recordSuccess } from '../../http/audit.ts';
import { createDisconnectSignal, readBody } from '../../http/request.ts';
import { type Route, adminRoute } from '../../http/route.ts';

interface DiagnoseUserParts {
  readonly diagnosis: DiagnoseParts;
  readonly users: Pick<UserAdmin, 'view'>;
  readonly audit: Pick<Audit, 'record'>;
}

/**
 * Diagnoses the calls of another user of the administrator's tenant. Reports the state of the user's credential without
 * using it. The audit event is recorded before the diagnosis, because the result is about a person.
 */
export function diagnoseUserRoute({ diagnosis, users, audit }: DiagnoseUserParts): Route {
  return adminRoute('post', '/api/admin/credentials/diagnose', async (req, res, caller) => {
    const { serverName, userId } = readBody(req, DiagnoseUserRequest);
    const user = await users.view(caller, userId);
    await recordSuccess(audit, caller, {
      kind: 'credential',
      action: 'credential.diagnose',
      door: 'admin',
      server: serverName,
      subject: user.id,
    });
    if (user.disabledAt !== null) {
      throw new GatewayError('REQUEST_INVALID', {
        detail: 'This account is disabled, so all of its calls fail.',
      });
    }
    const result = await diagnose(diagnosis, serverName, {
      // A bearer principal without a subject token, so the diagnosis cannot exchange anything on behalf of the user.
      principal: toPrincipal(user, { via: 'bearer' }),
      door: 'rest',
      signal: createDisconnectSignal(res),
      isForOtherUser: true,
    });
    res.json(result);
  });
}

interface ReauthRouteParts {
  readonly registry: Pick<Registry, 'find'>;
  readonly vault: Pick<CredentialVault, 'list' | 'requireSignIn'>;
  readonly users: Pick<UserStore, 'list'>;
  readonly audit: Pick<Audit, 'record'>;
}

/** Requires a new sign-in from every user of the tenant who has a grant at the server. The stored tokens are kept. */
export function reauthRoute({ registry, vault, users, audit }: ReauthRouteParts): Route {
  return adminRoute('post', '/api/admin/credentials/reauth', async (req, res, caller) => {
    const { serverName } = readBody(req, ReauthCampaignRequest);
    const server = registry.find(caller.tenant, serverName);
    if (!server) throw new GatewayError('MCP_SERVER_NOT_FOUND');
    let marked = 0;
    for await (const { id: userId } of listUsers(users, caller.tenant)) {
      const credentials = await vault.list(caller.tenant, credentialHolder({ userId }), server.id);
      for (const credential of credentials) {
        if (credential.kind !== 'oauth_code') continue;
        if (await vault.requireSignIn(credential, 'interaction_required')) marked += 1;
      }
    }
    await recordSuccess(audit, caller, {
      kind: 'credential',
      action: 'credential.reauth',
      door: 'admin',
      server: server.name,
      serverId: server.id,
      count: marked,
    });
    res.json({ marked });
  });
}

const PAGE_SIZE = 200;

/** All users of the tenant, read page by page. */
async function* listUsers(users: Pick<UserStore, 'list'>, tenant: string): AsyncGenerator<UserRecord> {
  let after: string | null = null;
  for (;;) {
    const page: UserRecord[] = await users.list(tenant, { after, limit: PAGE_SIZE });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE_SIZE) return;
    after = last.id;
  }
}
