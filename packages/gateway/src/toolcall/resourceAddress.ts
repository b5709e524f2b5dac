const SCHEME = 'behalf:';

/** The address of a resource that two servers have under the same one. A mere prefix, so that templates take it too. */
export function wrapAddress(key: string, address: string): string {
  return `${SCHEME}${key}/${address}`;
}

/** Undefined for every other address. */
export function unwrapAddress(
  address: string,
): { readonly key: string; readonly address: string } | undefined {
  const [, key = '', inner = ''] = /^behalf:([A-Za-z0-9_-]{1,24})\/(.+)$/s.exec(address) ?? [];
  return key === '' ? undefined : { key, address: inner };
}

/** Whether an address can come from a template of RFC 6570, read generously: who is asked decides. */
export function fitsTemplate(template: string, address: string): boolean {
  const parts = template.split(/\{[^{}]*\}/);
  if (parts.length === 1) return template === address;
  const [first = '', ...rest] = parts;
  if (!address.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    if (index === rest.length - 1) return address.length - part.length >= at && address.endsWith(part);
    const next = address.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return true;
}
