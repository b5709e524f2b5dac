declare global {
  var behalfRenders: { id: string; kind: string }[] | undefined;
}

/** Records renders in benchmark builds. */
export function countRender(id: string, kind: 'question' | 'answer' | 'text' | 'call'): void {
  if (__COUNT_RENDERS__) (globalThis.behalfRenders ??= []).push({ id, kind });
}
