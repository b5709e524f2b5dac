import type { Transport } from '@modelcontextprotocol/client';
import type { UpstreamError } from '../upstreamError.ts';

/** A transport that can also tell the end of one request, while the others on it go on. */
export interface Channel extends Transport {
  onfailure?: ((id: unknown, error: UpstreamError) => void) | undefined;
}
