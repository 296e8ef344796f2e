/** What is in force here and who says so; and what this person chose for this browser. */
import { useState } from 'react'
import { useSettings } from '@/api/operations'
import { PageBody, PageHead } from '@/app/heading'
import { lettersOn, setLetters } from '@/app/keys'
import { type Theme, chooseTheme, theme } from '@/app/theme'
import { type Language, chooseLanguage, language, t } from '@/messages'
import { Field, Segments, Switch, Table } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'
import { settingText, storeText } from './said'

export default function SettingsPage() {
  const [chosen, setChosen] = useState<Theme>(theme())
  const [letters, setOn] = useState(lettersOn())
  return (
    <>
      <PageHead title={t('nav.settings')} />
      <PageBody label={t('nav.settings')}>
        <div className="sect">
          <h2>{t('op.yours')}</h2>
          <span className="cap">{t('op.yoursAbout')}</span>
        </div>
        <div className="row flex-wrap gap-6 px-6 pb-4">
          <div>
            <div className="lab">{t('theme.label')}</div>
            <Segments
              label={t('theme.label')}
              value={chosen}
              choices={(['light', 'dark', 'system'] as const).map((each) => ({ value: each, label: t(`theme.${each}`) }))}
              onChange={(next) => {
                chooseTheme(next)
                setChosen(next)
              }}
            />
          </div>
          <div>
            <div className="lab">{t('language.label')}</div>
            <Segments<Language>
              label={t('language.label')}
              value={language()}
              choices={[
                { value: 'en', label: 'English' },
                { value: 'de', label: 'Deutsch' },
              ]}
              onChange={chooseLanguage}
            />
          </div>
          <Field label={t('op.letters')}>
            {(ids) => (
              <Switch
                id={ids.id}
                label={t('op.letters')}
                checked={letters}
                onChange={(on) => {
                  setLetters(on)
                  setOn(on)
                }}
              />
            )}
          </Field>
        </div>
        <div className="sect">
          <h2>{t('op.server')}</h2>
        </div>
        <LoadedOrAbsent query={useSettings()}>
          {(found) => (
            <>
              <dl className="kv px-6 pb-3">
                <dt>{t('rp.version')}</dt>
                <dd>{found.version}</dd>
                <dt>{t('op.store')}</dt>
                <dd className="[overflow-wrap:anywhere]">
                  <bdi>{storeText(found.store)}</bdi>
                </dd>
                <dt>{t('op.signIn')}</dt>
                <dd>{found.open ? t('op.openHere') : t('op.needsSignIn')}</dd>
                <dt>{t('ru.status')}</dt>
                <dd>{found.paused ? t('run.paused') : t('run.running')}</dd>
              </dl>
              <Table
                label={t('op.server')}
                rows={found.settings}
                rowKey={(each) => each.name}
                columns={[
                  { id: 'name', head: t('op.name'), cell: (each) => <code>{each.name}</code> },
                  { id: 'value', head: t('op.value'), cell: (each) => <bdi>{settingText(each.value)}</bdi> },
                  { id: 'from', head: t('op.origin'), cell: (each) => (each.origin === 'default' ? t('op.byDefault') : each.origin) },
                ]}
              />
            </>
          )}
        </LoadedOrAbsent>
      </PageBody>
    </>
  )
}
