import {
  BlockChange,
  BlockCheckRequest,
  BlockRequest,
  BlockRunRequest,
  BlocksQuery,
} from '@behalf/contracts';
import {
  type Inbound,
  type RunBlockParts,
  type SaveBlockParts,
  type UserPrincipal,
  changeBlock,
  checkBlocks,
  createBlock,
  findBlockToRun,
  getBlockCollection,
  getSavedSharing,
  listBlocks,
  removeBlock,
  runBlock,
  shareSaved,
  toEtag,
  viewBlock,
} from '@behalf/gateway';
import type { Request, Response } from 'express';
import { createDisconnectSignal, parseBody, readBody, readIfMatch } from '../../http/request.ts';
import type { FastRoute, Route } from '../../http/route.ts';
import { sharingRoutes } from './permissions.ts';
import { type ServerResponder, createRestInbound, rawText } from './serverResponder.ts';

/** Tools that people saved with inputs. Words come before `:id`: the first path that fits is taken. */
export function blockRoutes(parts: SaveBlockParts & RunBlockParts, respond: ServerResponder): Route[] {
  return [
    listBlocksRoute(parts),
    createBlockRoute(parts),
    checkBlocksRoute(parts),
    viewBlockRoute(parts),
    changeBlockRoute(parts),
    removeBlockRoute(parts),
    runBlockRoute(parts, respond),
    ...sharingRoutes({
      type: 'block',
      view: (caller, id) => getSavedSharing(parts, getBlockCollection(parts), caller, id),
      share: (caller, id, request) => shareSaved(parts, getBlockCollection(parts), caller, id, request),
    }),
  ];
}

/** The caller's own and those that are shared with them. */
function listBlocksRoute(parts: SaveBlockParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/blocks',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      res.json(await listBlocks(parts, caller, parseBody(req.query, BlocksQuery)));
    },
  };
}

function createBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'post',
    path: '/api/mcp/blocks',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const view = await createBlock(parts, createSaveInbound(req, res, caller), readBody(req, BlockRequest));
      res.set('ETag', toEtag(view.version));
      res
        .status(201)
        .location(`/api/mcp/blocks/${encodeURIComponent(view.id)}`)
        .json(view);
    },
  };
}

/** Whether blocks would run for the caller now, and what they wait for. Nothing runs. */
function checkBlocksRoute(parts: RunBlockParts): Route {
  return {
    method: 'post',
    path: '/api/mcp/blocks/check',
    access: 'caller',
    scope: 'mcp',
    async handle(req, res, caller) {
      const inbound = createRestInbound({
        caller,
        headers: req.headers,
        signal: createDisconnectSignal(res),
      });
      res.json(await checkBlocks(parts, inbound, readBody(req, BlockCheckRequest)));
    },
  };
}

function viewBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'get',
    path: '/api/mcp/blocks/:id',
    access: 'signed-in',
    scope: 'mcp',
    async handle(req, res, caller) {
      const { id } = req.params as { id: string };
      const view = await viewBlock(parts, caller, id);
      res.set('ETag', toEtag(view.version)).json(view);
    },
  };
}

function changeBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'patch',
    path: '/api/mcp/blocks/:id',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { id } = req.params as { id: string };
      const change = { ...readBody(req, BlockChange), ...readIfMatch(req) };
      const view = await changeBlock(parts, createSaveInbound(req, res, caller), id, change);
      res.set('ETag', toEtag(view.version)).json(view);
    },
  };
}

function removeBlockRoute(parts: SaveBlockParts): Route {
  return {
    method: 'delete',
    path: '/api/mcp/blocks/:id',
    access: 'signed-in',
    scope: 'servers',
    async handle(req, res, caller) {
      const { id } = req.params as { id: string };
      await removeBlock(parts, caller, id, readIfMatch(req));
      res.status(204).end();
    },
  };
}

/** Runs a block as the caller: its answer is that of the tool, as JSON or as events. */
function runBlockRoute(parts: RunBlockParts, respond: ServerResponder): FastRoute {
  return {
    method: 'post',
    path: '/api/mcp/blocks/:id/run',
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

/** Who saves, and for how long they wait: the tools of the server may have to be asked for. */
function createSaveInbound(
  req: Request,
  res: Response,
  caller: UserPrincipal,
): Inbound & { principal: UserPrincipal } {
  const inbound = createRestInbound({ caller, headers: req.headers, signal: createDisconnectSignal(res) });
  return { ...inbound, principal: caller };
}
