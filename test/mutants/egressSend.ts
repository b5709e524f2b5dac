import type { Mutant } from '../mutants.ts';

/** The checks of a sent request; the files are those of packages/egress/src. */
const checks: readonly (readonly [id: string, file: string, find: string, replace: string])[] = [
  [
    'egress.send.guard',
    'destination.ts',
    "if (protocol !== 'https:' && protocol !== 'http:')",
    "if (protocol === '')",
  ],
  [
    'egress.send.guard',
    'destination.ts',
    'this.#poolKey = JSON.stringify([scope.key, this.origin]);',
    'this.#poolKey = JSON.stringify([this.origin]);',
  ],
  [
    'egress.send.guard',
    'destination.ts',
    'if (this.#scopeKey !== scope.key) {',
    'if (this.#scopeKey === undefined) {',
  ],
  [
    'egress.send.guard',
    'createEgress.ts',
    'sendFor: (options) => createGuardedSend(requestFor(options), destinations),',
    "sendFor: (options) => createGuardedSend(requestFor({ ...options, audience: 'yaml-server' }), destinations),",
  ],
  [
    'egress.send.own-headers',
    'guardedSend.ts',
    'if (!reservedHeaders.has(lower)) flat.push(lower',
    'if (!reservedHeaders.has(name)) flat.push(lower',
  ],
  [
    'egress.send.header-values',
    'errors.ts',
    "if (code === 'UND_ERR_INVALID_ARG') return",
    "if (code === 'x') return",
  ],
  [
    'egress.send.header-values',
    'answer.ts',
    'connectionError(error, this.#host, this.#controller !== undefined)',
    'error',
  ],
  ['egress.send.hop', 'guardedSend.ts', 'hop: headers[HOP_HEADER],', 'hop: undefined,'],
  [
    'egress.send.redirect',
    'guardedRequest.ts',
    'sent = [...safeAcrossOrigins(headers), ...own];',
    'sent = [...headers, ...own];',
  ],
  ['egress.send.redirect', 'guardedRequest.ts', 'scope = options.redirectScope;', 'scope = options.scope;'],
  [
    'egress.send.redirect',
    'guardedRequest.ts',
    'await answer.discard();\n        exchange.throwIfFailed();',
    'await answer.discard();',
  ],
  ['egress.timeout.total', 'answer.ts', 'if (this.#last) this.#exchange.end();', 'this.#exchange.end();'],
  [
    'egress.send.timeout',
    'exchange.ts',
    'if (this.#ended || due >= this.#armedFor) return;',
    'if (this.#armedFor < Infinity) return;',
  ],
  ['egress.send.abort', 'answer.ts', 'if (this.#error) controller.abort(this.#error);', ''],
  ['egress.send.abort', 'answer.ts', 'this.#controller?.abort(error);', ''],
  [
    'egress.send.limit',
    'answer.ts',
    'const breach = this.#guard(chunk);',
    'const breach = chunk.length < 0 ? this.#guard(chunk) : undefined;',
  ],
  [
    'egress.send.backpressure',
    'answer.ts',
    'if (!this.#whole && this.#queue.length >= HIGH_WATER) controller.pause();',
    '',
  ],
  ['egress.send.release', 'answer.ts', 'if (this.#drained > DRAIN_BYTES) this.cancel();', ''],
  ['egress.send.release', 'guardedSend.ts', 'answer.cancel();', ''],
  [
    'egress.send.unwanted',
    'answer.ts',
    'const stop = this.#clock.timer(DRAIN_MS, () => this.cancel());',
    'const stop = () => undefined;',
  ],
  ['egress.send.unwanted', 'answer.ts', 'const DRAIN_MS = 1_000;', 'const DRAIN_MS = 10_000;'],
  [
    'egress.send.pieces',
    'bodyGuard.ts',
    'return total > bodyBytes || pieces > mostPieces ?',
    'return total > bodyBytes ?',
  ],
  [
    'egress.send.pieces',
    'bodyGuard.ts',
    'const mostPieces = Math.max(FEW_PIECES, bodyBytes / LEAST_PIECE);',
    'const mostPieces = bodyBytes / LEAST_PIECE;',
  ],
];

export const egressSend: readonly Mutant[] = checks.map(([id, file, find, replace]) => ({
  id,
  file: `packages/egress/src/${file}`,
  find,
  replace,
}));
