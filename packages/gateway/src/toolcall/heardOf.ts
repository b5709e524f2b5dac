import { stripGatewayMeta } from '../shaping/stripGatewayMeta.ts';
import { getLevelRank } from '../upstream/logLevels.ts';
import type { JsonObject, UpstreamRequestOptions } from '../upstream/upstream.ts';
import type { Inbound } from './call.ts';
import { maskJson } from './maskPresented.ts';
import type { Ready } from './obtainCredential.ts';

/**
 * What a caller hears while a request is under way: as little of a token that the server repeats, and of words that only
 * we may say, as in the result.
 */
export function heardOf(
  ready: Ready,
  { onProgress, onLog, peer }: Inbound,
): Pick<UpstreamRequestOptions, 'onProgress' | 'onLog' | 'logLevel'> {
  const clean = (params: JsonObject) => maskJson(stripGatewayMeta(params), ready);
  const logLevel = peer?.logLevel;
  const least = logLevel === undefined ? 0 : getLevelRank(logLevel);
  return {
    ...(onProgress && { onProgress: (params: JsonObject) => onProgress(clean(params)) }),
    ...(onLog && {
      onLog(params: JsonObject) {
        // A session that others use too may say more than this caller wants to hear.
        if (getLevelRank(params['level']) >= least) onLog(clean(params));
      },
    }),
    ...(onLog && logLevel !== undefined && { logLevel }),
  };
}
