const SCHEME = 'behalf:';

/** The address of a resource that two servers have under the same one. A mere prefix, so that templates take it too. */
export function wrapAddress(key: string, address: string): string {
  return `${SCHEME}${key}/${address}`;
}

/** Undefined for every other address. */
export function unwrapAddress(
  address: string,
): { readonly key: string; readonly address: string } | undefined {
  const [, key = '', wrappedAddress = ''] = /^behalf:([A-Za-z0-9_-]{1,24})\/(.+)$/s.exec(address) ?? [];
  return key === '' ? undefined : { key, address: wrappedAddress };
}

/** Whether an address can come from a template of RFC 6570, read generously: who is asked decides. */
export function matchesTemplate(template: string, address: string): boolean {
  const literals = template.split(/\{[^{}]*\}/);
  if (literals.length === 1) return template === address;
  const [prefix = '', ...remaining] = literals;
  if (!address.startsWith(prefix)) return false;
  let position = prefix.length;
  for (const [index, literal] of remaining.entries()) {
    if (index === remaining.length - 1)
      return address.length - literal.length >= position && address.endsWith(literal);
    const matchIndex = address.indexOf(literal, position);
    if (matchIndex < 0) return false;
    position = matchIndex + literal.length;
  }
  return true;
}
