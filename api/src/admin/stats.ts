import { StatsQuery, type StatsView } from '@behalf/contracts';
import type { Route } from '../http/routes.ts';
import { parseBody } from '../middleware/body.ts';
import type { CallHistory } from '../ops/callHistory.ts';
import type { ExchangeStats } from '../ops/exchangeStats.ts';
import type { RefreshStats } from '../ops/refreshStats.ts';
import { isOperator } from './isOperator.ts';

export interface StatsParts {
  readonly history: Pick<CallHistory, 'read'>;
  readonly exchanges: Pick<ExchangeStats, 'outcomes' | 'requests'>;
  readonly refreshes: Pick<RefreshStats, 'outcomes'>;
  /** Names this process. */
  readonly replica: string;
}

/** What this process counted of the caller's own tenant; of all tenants together for operators alone. */
export function statsRoute({ history, exchanges, refreshes, replica }: StatsParts): Route {
  return {
    method: 'get',
    path: '/api/admin/stats',
    access: 'admin',
    scope: 'admin',
    handle(req, res, caller) {
      const { range } = parseBody(req.query, StatsQuery);
      const view: StatsView = {
        replica,
        range,
        ...history.read(caller.tenant, range),
        ...(isOperator(caller) && {
          exchanges: { requests: exchanges.requests, outcomes: Object.fromEntries(exchanges.outcomes) },
          refreshes: { outcomes: Object.fromEntries(refreshes.outcomes) },
        }),
      };
      res.json(view);
    },
  };
}
