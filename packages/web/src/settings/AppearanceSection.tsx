import { setTheme, themes, useTheme } from '../hooks/useTheme.ts';
import { strings } from '../strings/strings.ts';
import { SegmentedControl } from '../ui/SegmentedControl.tsx';
import { SettingsSection } from './SettingsSection.tsx';

export function AppearanceSection() {
  const { settings, shell } = strings;
  return (
    <SettingsSection title={shell.theme} lead={settings.appearanceLead}>
      <SegmentedControl
        label={shell.theme}
        value={useTheme()}
        options={themes.map((value) => ({ value, label: shell.themes[value] }))}
        onChange={setTheme}
      />
    </SettingsSection>
  );
}
