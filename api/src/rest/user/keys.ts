import { ApiKeyRequest, type ApiKeyView } from '@behalf/contracts';
import type { ApiKeys } from '@behalf/gateway';
import type { ApiKeyRecord } from '@behalf/gateway/ports';
import type { Route } from '../../http/routes.ts';
import { readBody } from '../../middleware/body.ts';

const KEYS_PATH = '/api/user/keys';

/** A user's own API keys. No key opens these doors: one that leaked must not make others. */
export function keyRoutes(keys: ApiKeys): Route[] {
  return [
    {
      method: 'get',
      path: KEYS_PATH,
      access: 'signed-in',
      scope: 'none',
      async handle(_req, res, caller) {
        res.json({ keys: (await keys.list(caller)).map(keyView) });
      },
    },
    {
      method: 'post',
      path: KEYS_PATH,
      access: 'signed-in',
      scope: 'none',
      async handle(req, res, caller) {
        const { key, record } = await keys.create(caller, readBody(req, ApiKeyRequest));
        res.status(201).json({ key, ...keyView(record) });
      },
    },
    {
      method: 'delete',
      path: `${KEYS_PATH}/:id`,
      access: 'signed-in',
      scope: 'none',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        await keys.remove(caller, id);
        res.status(204).end();
      },
    },
  ];
}

function keyView(record: ApiKeyRecord): ApiKeyView {
  const { id, name, hint, scopes, createdAt, expiresAt, lastUsedAt } = record;
  return { id, name, hint, scopes: [...scopes], createdAt, expiresAt, lastUsedAt };
}
