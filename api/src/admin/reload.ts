import { actorOf, GatewayError, type Audit } from '@behalf/gateway';
import type { ReloadResult } from '../configuration.ts';
import type { Route } from '../http/routes.ts';
import { requireOperator } from './requireOperator.ts';

export interface ReloadParts {
  reload: (requestedBy: string) => ReloadResult;
  /** Tells the other replicas. */
  announce: () => Promise<void>;
  audit: Audit;
}

export function reloadRoute({ reload, announce, audit }: ReloadParts): Route {
  return {
    method: 'post',
    path: '/api/admin/reload',
    access: 'admin',
    scope: 'admin',
    async handle(_req, res, caller) {
      requireOperator(caller);
      const outcome = reload(caller.userId);
      if (!outcome.ok) throw new GatewayError('CONFIG_INVALID', { errors: outcome.diagnostics });
      await announce();
      await audit.record({
        kind: 'config',
        action: 'settings.reload',
        tenant: caller.tenant,
        actor: actorOf(caller),
        door: 'admin',
        outcome: 'ok',
      });
      res.json({ reloaded: true });
    },
  };
}
