import type { ReadyView } from '@behalf/contracts';
import type { Route } from '../http/routes.ts';

/** Alive: the process answers. Whether it can serve is the other question. */
export const healthRoute: Route = {
  method: 'get',
  path: '/health',
  access: 'public',
  handle(_req, res) {
    res.json({ status: 'ok' });
  },
};

export function readyRoute(readiness: () => Promise<ReadyView>): Route {
  return {
    method: 'get',
    path: '/ready',
    access: 'public',
    async handle(_req, res) {
      const view = await readiness();
      res.status(view.status === 'ready' ? 200 : 503).json(view);
    },
  };
}
