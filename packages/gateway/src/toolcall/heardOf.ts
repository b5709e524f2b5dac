import { withoutOurMeta } from '../shaping/withoutOurMeta.ts';
import { levelRank } from '../upstream/logLevels.ts';
import type { Json, RequestOptions } from '../upstream/upstream.ts';
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
): Pick<RequestOptions, 'onProgress' | 'onLog' | 'logLevel'> {
  const clean = (params: Json) => maskJson(withoutOurMeta(params), ready);
  const logLevel = peer?.logLevel;
  const least = logLevel === undefined ? 0 : levelRank(logLevel);
  return {
    ...(onProgress && { onProgress: (params: Json) => onProgress(clean(params)) }),
    ...(onLog && {
      onLog(params: Json) {
        // A session that others use too may say more than this caller wants to hear.
        if (levelRank(params['level']) >= least) onLog(clean(params));
      },
    }),
    ...(onLog && logLevel !== undefined && { logLevel }),
  };
}
