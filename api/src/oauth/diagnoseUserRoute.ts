import { DiagnoseUserRequest } from '@behalf/contracts';
import {
  actorOf,
  diagnose,
  GatewayError,
  toPrincipal,
  type Audit,
  type DiagnoseParts,
  type UserAdmin,
} from '@behalf/gateway';
import type { Route } from '../http/routes.ts';
import { readBody } from '../middleware/body.ts';
import { createDisconnectSignal } from '../middleware/callerDisconnect.ts';

export interface DiagnoseUserParts {
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
