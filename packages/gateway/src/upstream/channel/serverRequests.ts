import { METHOD_NOT_FOUND } from '@modelcontextprotocol/client';
import type { Reply } from './peer.ts';

/**
 * What a server gets for its own requests on a channel. Nothing on a channel says for whose call it asks, so no user
 * is bothered with a question that may stem from another's: an elicitation is cancelled, sampling and roots are not
 * offered.
 */
export function serveOverChannel(method: string): Reply {
  if (method === 'ping') return { result: {} };
  if (method === 'elicitation/create') return { result: { action: 'cancel' } };
  return { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}
