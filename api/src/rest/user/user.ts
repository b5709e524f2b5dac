import type { Route } from '../../http.ts';
import { userView } from './userView.ts';

export const userRoute: Route = {
  method: 'get',
  path: '/api/user',
  access: 'signed-in',
  scope: 'mcp',
  handle(_req, res, caller) {
    res.json(userView({ ...caller, id: caller.userId }));
  },
};
