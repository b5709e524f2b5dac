declare global {
  var behalfRenders: { id: string; kind: string }[] | undefined;
}

/** Only in the build that benchmarks look at: which component was rendered, and when. */
export function countRender(id: string, kind: 'question' | 'answer' | 'text' | 'call'): void {
  if (__COUNT_RENDERS__) (globalThis.behalfRenders ??= []).push({ id, kind });
}
