import { GatewayError } from '@behalf/gateway';
import type { Reload } from '../configuration.ts';
import type { Route } from '../http.ts';

export interface ReloadParts {
  reload: (asked: string) => Reload;
  /** Tells the other replicas. */
  announce: () => Promise<void>;
}

export function reloadRoute({ reload, announce }: ReloadParts): Route {
  return {
    method: 'post',
    path: '/api/admin/reload',
    access: 'admin',
    async handle(_req, res, caller) {
      const outcome = reload(caller.userId);
      if (!outcome.ok) throw new GatewayError('CONFIG_INVALID', { errors: outcome.diagnostics });
      await announce();
      res.json({ reloaded: true });
    },
  };
}
