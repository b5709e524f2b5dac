import type { ClientView } from '@behalf/contracts';
import { GatewayError, type Audit } from '@behalf/gateway';
import type { ClientGrants, Consents } from '@behalf/gateway/facade';
import type { Route } from '../../http/routes.ts';

export interface OwnClientParts {
  consents: Pick<Consents, 'list' | 'remove'>;
  grants: Pick<ClientGrants, 'endForClient'>;
  audit: Audit;
}

const CLIENTS_PATH = '/api/user/clients';

/** To which applications a user said yes. Only a person in a browser sees and ends that. */
export function ownClientRoutes({ consents, grants, audit }: OwnClientParts): Route[] {
  return [
    {
      method: 'get',
      path: CLIENTS_PATH,
      access: 'signed-in',
      scope: 'none',
      async handle(_req, res, caller) {
        const clients: ClientView[] = await consents.list(caller);
        res.json({ clients });
      },
    },
    {
      method: 'delete',
      path: `${CLIENTS_PATH}/:id`,
      access: 'signed-in',
      scope: 'none',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const { tenant, userId, authentication } = caller;
        const revoked = await consents.remove(caller, id);
        if (!revoked) throw new GatewayError('NOT_FOUND');
        await grants.endForClient(userId, revoked.clientId);
        await audit.record({
          ...{ kind: 'sign_in', action: 'client.revoke', tenant, door: 'browser', outcome: 'ok' },
          ...{ subject: userId, changed: [revoked.clientId] },
          actor: { kind: 'user', id: userId, by: authentication.via },
        });
        res.status(204).end();
      },
    },
  ];
}
