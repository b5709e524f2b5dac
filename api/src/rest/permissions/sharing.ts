import { ShareRequest, type SharingView } from '@behalf/contracts';
import type { UserPrincipal } from '@behalf/gateway';
import type { Route } from '../../http/routes.ts';
import { readBody } from '../../middleware/body.ts';

/** Something that people share: servers, blocks and sets, all with the same sets of bits. */
export interface SharedResource {
  /** As it stands in the path and in the answer. */
  readonly type: 'mcpServer' | 'block' | 'set';
  readonly view: (caller: UserPrincipal, id: string) => Promise<SharingView>;
  readonly share: (caller: UserPrincipal, id: string, request: ShareRequest) => Promise<SharingView>;
}

/** With whom it is shared. The id of a server is its `dbId`; of a server of the operator its name. */
export function sharingRoutes({ type, view, share }: SharedResource): Route[] {
  const path = `/api/permissions/${type}/:id`;
  return [
    {
      method: 'get',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json({ resourceType: type, resourceId: id, ...(await view(caller, id)) });
      },
    },
    {
      method: 'put',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const results = await share(caller, id, readBody(req, ShareRequest));
        res.json({ message: 'Permissions updated successfully', results });
      },
    },
  ];
}
