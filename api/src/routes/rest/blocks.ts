import {
  BlockChange,
  BlockCheckRequest,
  BlockRequest,
  BlockRunRequest,
  BlocksQuery,
} from '@behalf/contracts';
import {
  type BlockParts,
  changeBlock,
  checkBlocks,
  createBlock,
  findBlockToRun,
  listBlocks,
  runBlock,
  viewBlock,
} from '@behalf/gateway';
import { readIfMatch, sendVersioned } from '../../http/etag.ts';
import { inboundOf } from '../../http/inbound.ts';
import { parseBody, readBody } from '../../http/request.ts';
import { type FastRoute, type Route, callerRoute, signedInRoute } from '../../http/route.ts';
import { sharingRoutes } from './permissions.ts';
import { type ServerResponder, rawText } from './serverResponder.ts';

const PATH = '/api/mcp/blocks';

/** Blocks: tools saved with inputs. Literal paths come before `:id`, because the first matching route is used. */
export function blockRoutes(parts: BlockParts, respond: ServerResponder): Route[] {
  return [
    signedInRoute('get', PATH, 'mcp', async (req, res, caller) =>
      res.json(await listBlocks(parts, caller, parseBody(req.query, BlocksQuery))),
    ),
    signedInRoute('post', PATH, 'servers', async (req, res, caller) => {
      const view = await createBlock(parts, inboundOf(req, res, caller), readBody(req, BlockRequest));
      res.status(201).location(`${PATH}/${encodeURIComponent(view.id)}`);
      sendVersioned(res, view, view.version);
    }),
    callerRoute('post', `${PATH}/check`, 'mcp', async (req, res, caller) =>
      res.json(await checkBlocks(parts, inboundOf(req, res, caller), readBody(req, BlockCheckRequest))),
    ),
    signedInRoute('get', `${PATH}/:id`, 'mcp', async (req, res, caller) => {
      const view = await viewBlock(parts, caller, req.params.id);
      sendVersioned(res, view, view.version);
    }),
    signedInRoute('patch', `${PATH}/:id`, 'servers', async (req, res, caller) => {
      const change = { ...readBody(req, BlockChange), ...readIfMatch(req) };
      const view = await changeBlock(parts, inboundOf(req, res, caller), req.params.id, change);
      sendVersioned(res, view, view.version);
    }),
    signedInRoute('delete', `${PATH}/:id`, 'servers', async (req, res, caller) => {
      await parts.blocks.remove(caller, req.params.id, readIfMatch(req));
      res.status(204).end();
    }),
    runBlockRoute(parts, respond),
    ...sharingRoutes({
      type: 'block',
      view: (caller, id) => parts.blocks.viewSharing(caller, id),
      share: (caller, id, request) => parts.blocks.share(caller, id, request),
    }),
  ];
}

/** Runs a block as the caller. The response is that of the tool call, as JSON or as an event stream. */
function runBlockRoute(parts: BlockParts, respond: ServerResponder): FastRoute {
  return {
    method: 'post',
    path: `${PATH}/:id/run`,
    access: 'caller',
    scope: 'mcp',
    async handleFast(exchange) {
      const { id = '' } = exchange.params;
      const { inputs, credential, request } = parseBody(exchange.body, BlockRunRequest);
      const ifMatch = exchange.req.headers['if-match'];
      const block = await findBlockToRun(parts, exchange.caller, id);
      return respond(exchange, {
        server: block?.serverName ?? '',
        operation: `block ${id}`,
        request,
        work: (inbound) => runBlock(parts, { id, block, inputs, credential, ifMatch }, inbound),
        serialize: rawText,
      });
    },
  };
}
