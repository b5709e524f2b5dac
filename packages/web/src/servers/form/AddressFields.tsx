import { strings } from '../../strings/strings.ts';
import { SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import type { FormSectionProps } from './formSectionProps.ts';
import { isCompatible, transports, type ServerTransport } from './serverForm.ts';

/** What people read. Everybody who may edit may change these. */
export function DescriptionFields({ form, before, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  return (
    <>
      <TextField
        label={words.title}
        hint={before ? words.titleHintLater : words.titleHint}
        error={problems['title']}
        isRequired={!before}
        maxLength={100}
        value={form.title}
        onChange={({ target }) => change({ title: target.value }, 'title')}
      />
      <TextArea
        label={words.description}
        hint={words.descriptionHint}
        error={problems['description']}
        rows={2}
        maxLength={4096}
        value={form.description}
        onChange={({ target }) => change({ description: target.value }, 'description')}
      />
    </>
  );
}

/** Where it is. */
export function AddressFields({ form, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  return (
    <>
      <SelectField
        label={words.transport}
        error={problems['type']}
        value={form.type}
        onChange={({ target }) => change({ type: target.value as ServerTransport }, 'type', 'url', 'auth')}
      >
        {transports.map((type) => (
          <option key={type} value={type} disabled={!isCompatible(type, form.auth)}>
            {words.transports[type]}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.url}
        hint={form.type === 'websocket' ? words.urlHintWebsocket : words.urlHint}
        error={problems['url']}
        isRequired
        type="url"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        maxLength={2048}
        value={form.url}
        onChange={({ target }) => change({ url: target.value }, 'url')}
      />
    </>
  );
}
