import { stripGatewayMeta } from '../shaping/stripGatewayMeta.ts';
import { getLevelRank } from '../upstream/logLevels.ts';
import type { JsonObject, UpstreamRequestOptions } from '../upstream/upstream.ts';
import type { Inbound } from './inbound.ts';
import { maskJson } from './maskSecrets.ts';
import type { PreparedTarget } from './obtainCredential.ts';

/**
 * What a caller hears while a request is under way: as little of a token that the server repeats, and of words that only
 * we may say, as in the result.
 */
export function createNotificationHandlers(
  prepared: PreparedTarget,
  { onProgress, onLog, peer }: Inbound,
): Pick<UpstreamRequestOptions, 'onProgress' | 'onLog' | 'logLevel'> {
  const sanitize = (params: JsonObject) => maskJson(stripGatewayMeta(params), prepared);
  const logLevel = peer?.logLevel;
  const minRank = logLevel === undefined ? 0 : getLevelRank(logLevel);
  return {
    ...(onProgress && { onProgress: (params: JsonObject) => onProgress(sanitize(params)) }),
    ...(onLog && {
      onLog(params: JsonObject) {
        // A session that others use too may say more than this caller wants to hear.
        if (getLevelRank(params['level']) >= minRank) onLog(sanitize(params));
      },
    }),
    ...(onLog && logLevel !== undefined && { logLevel }),
  };
}
