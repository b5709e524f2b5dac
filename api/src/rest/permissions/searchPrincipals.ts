import { PrincipalSearch, type PrincipalSearchView } from '@behalf/contracts';
import { searchPrincipals, type SearchParts } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';
import { parseBody } from '../../middleware/body.ts';

/** Whom a server can be shared with, for the dialog that does so. */
export function searchPrincipalsRoute(parts: SearchParts): Route {
  return {
    method: 'get',
    path: '/api/permissions/search-principals',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const search = parseBody(req.query, PrincipalSearch);
      const results = await searchPrincipals(parts, caller, search);
      const { q: query, limit, types } = search;
      const view: PrincipalSearchView = {
        ...{ query, limit, ...(types && { types }), results, count: results.length },
        sources: { local: results.length, entra: 0 },
      };
      res.json(view);
    },
  };
}
