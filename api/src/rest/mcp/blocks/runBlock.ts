import { BlockRunRequest } from '@behalf/contracts';
import { findBlockToRun, runBlock, type RunBlockParts } from '@behalf/gateway';
import type { FastRoute } from '../../../http/routes.ts';
import { parseBody } from '../../../middleware/body.ts';
import { rawText, type ServerResponder } from '../serverResponder.ts';

/** Runs a block as the caller: its answer is that of the tool, as JSON or as events. */
export function runBlockRoute(parts: RunBlockParts, respond: ServerResponder): FastRoute {
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
