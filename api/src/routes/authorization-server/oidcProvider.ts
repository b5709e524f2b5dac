/**
 * The library, without its one complaint at load time: it names Node 22 as its floor and runs on 20.19, which is ours.
 * Any other warning goes through.
 */
const { warn } = console;
console.warn = (...args: unknown[]) => {
  if (!String(args[0]).includes('Unsupported runtime')) warn(...args);
};
const library = await import('oidc-provider');
console.warn = warn;

export const { default: Provider, errors } = library;
