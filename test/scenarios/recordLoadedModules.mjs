// Writes the path of every module this process loads, ESM and CommonJS, to the file in BEHALF_TEST_LOADED.
import { appendFileSync } from 'node:fs';
import Module, { register } from 'node:module';

const file = process.env.BEHALF_TEST_LOADED;
if (file) {
  const load = Module._extensions['.js'];
  for (const extension of Object.keys(Module._extensions)) {
    const original = Module._extensions[extension] ?? load;
    Module._extensions[extension] = (module, filename) => {
      appendFileSync(file, `${filename}\n`);
      return original(module, filename);
    };
  }
  const hooks = `
    import { appendFileSync } from 'node:fs';
    export async function load(url, context, next) {
      appendFileSync(${JSON.stringify(file)}, url + '\\n');
      return next(url, context);
    }`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
